package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strings"

	"github.com/goatnote-inc/pawl/client"
)

//go:embed templates
var texts embed.FS

// Layout is the layout data around every page.
type Layout struct {
	Visitor  string          // name of the user; empty if not logged in
	CanLogin bool            // whether login is available
	Theme    string          // light, dark, or empty for the browser's choice
	Project  *client.Project // nil outside a project
	IsAdmin  bool            // whether the user may change the project
	Fleet    bool            // whether the server has a fleet
	Query    string          // the search text
	Path     string          // of this page with its query, to return to
}

// View is the content of one page.
type View interface {
	// Title returns the heading of the page.
	Title() string
	// tab returns the section of the site to highlight.
	tab() string
}

// page is the data of a template.
type page struct {
	Layout
	View View
	Tab  string
}

// templates holds the templates by the name of their view: serieslist.html is for SeriesList.
var templates = parsed()

func parsed() map[string]*template.Template {
	base := template.Must(template.New("frame.html").Funcs(functions).ParseFS(texts, "templates/frame.html", "templates/part_*.html"))
	views := map[string]*template.Template{}
	for _, v := range []View{Projects{}, Overview{}, Series{}, SeriesList{}, Chart{}, Compare{}, CompareRuns{}, Run{}, Runs{}, Live{}, Testbed{}, Heat{}, Events{}, Cause{}, Search{}, Shared{}, Settings{}, NewKey{}, Limits{}, Fleet{}, Login{}, Problem{}} {
		name := reflect.TypeOf(v).Name()
		views[name] = template.Must(template.Must(base.Clone()).ParseFS(texts, "templates/"+strings.ToLower(name)+".html"))
	}
	return views
}

// Render writes a complete page, or nothing if it fails.
func Render(w io.Writer, f Layout, v View) error {
	if f.Theme != "light" && f.Theme != "dark" {
		f.Theme = ""
	}
	var b bytes.Buffer
	name := reflect.TypeOf(v).Name()
	t, known := templates[name]
	if !known {
		return fmt.Errorf("there is no page for view %s", name)
	}
	if err := t.Execute(&b, page{f, v, v.tab()}); err != nil {
		return fmt.Errorf("cannot write the page %s: %w", name, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
