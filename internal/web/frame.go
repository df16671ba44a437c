package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"reflect"

	"github.com/goatnote-inc/pawl/client"
)

//go:embed templates
var texts embed.FS

// Frame is what every page has around what it says.
type Frame struct {
	Visitor  string          // who looks; empty for a stranger
	CanLogin bool            // whether there is a way to log in
	Theme    string          // light, dark, or empty for what the browser likes
	Project  *client.Project // nil outside of one
	Query    string          // what was searched for
	Path     string          // of this page with its query, to come back to
}

// View is what one page says.
type View interface {
	// Title names the page.
	Title() string
	// tab is which part of the site is lit.
	tab() string
}

// page is what a template sees.
type page struct {
	Frame
	View View
	Tab  string
}

// templates are the pages by the names of their views: series.html is Series.
var templates = parsed()

func parsed() map[string]*template.Template {
	base := template.Must(template.New("frame.html").Funcs(functions).ParseFS(texts, "templates/frame.html", "templates/part_*.html"))
	views := map[string]*template.Template{}
	for _, v := range []View{Projects{}, Overview{}, Series{}, SeriesList{}, Compare{}, Run{}, Runs{}, Live{}, Testbed{}, Heat{}, Events{}, Search{}, Login{}, Problem{}} {
		name := reflect.TypeOf(v).Name()
		views[name] = template.Must(template.Must(base.Clone()).ParseFS(texts, "templates/"+fileOf(name)))
	}
	return views
}

// fileOf is the template of a view: lower case, words apart.
func fileOf(view string) string {
	var b bytes.Buffer
	for i, r := range view {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String() + ".html"
}

// Render writes a page, whole or not at all.
func Render(w io.Writer, f Frame, v View) error {
	if f.Theme != "light" && f.Theme != "dark" {
		f.Theme = ""
	}
	var b bytes.Buffer
	name := reflect.TypeOf(v).Name()
	t, known := templates[name]
	if !known {
		return fmt.Errorf("there is no page for a view %s", name)
	}
	if err := t.Execute(&b, page{f, v, v.tab()}); err != nil {
		return fmt.Errorf("write the page %s: %w", name, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
