package workflow

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var templateFiles embed.FS

// Folder is where GitHub looks for workflows, and GateFile is the workflow that measures changes.
const (
	Folder   = ".github/workflows"
	GateFile = Folder + "/pawl-gate.yml"
)

// OwnRepository is where pawl and the action that installs it are published.
const OwnRepository = "goatnote-inc/pawl"

// names lists the workflows, in the order in which a repository needs them.
var names = []string{"pawl-gate", "pawl-publish", "pawl-ratchet", "pawl-autotune", "pawl-nightly"}

// File is a file to write.
type File struct {
	Path string // from the root of the repository, with slashes
	Text []byte
}

// templates use delimiters that differ from GitHub's own expressions.
var templates = template.Must(template.New("").Delims("[[", "]]").Funcs(template.FuncMap{
	"json": asJSON,
	"str":  quoted,
}).ParseFS(templateFiles, "templates/*.tmpl"))

func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// quoted returns s as a YAML scalar. Every JSON string is one.
func quoted(s string) (string, error) { return asJSON(s) }

// page is the data of a template.
type page struct {
	Settings
	Folder, Name string // of the main suite
	Pins         Pins
}

// Render writes every workflow for these settings. Version is the pawl version that writes
// them.
func Render(s Settings, version string) ([]File, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var files []File
	add := func(name string, text []byte, err error) error {
		if err != nil {
			return fmt.Errorf("cannot write the workflow %s: %w", name, err)
		}
		f, err := stamp(path.Join(Folder, name+".yml"), s, version, text)
		files = append(files, f)
		return err
	}
	for _, name := range names {
		text, err := text(name, s)
		if err := add(name, text, err); err != nil {
			return nil, err
		}
	}
	for i := range s.Folders[1:] {
		for _, name := range names {
			if name == "pawl-autotune" {
				continue // it has the folder as an input
			}
			c := callerOf(name, s, i+1)
			text, err := c.text()
			if err := add(c.Name, text, err); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// text returns one workflow of the main suite: the full text, or a call of the shared one.
func text(name string, s Settings) ([]byte, error) {
	if s.Shared != "" {
		return callerOf(name, s, 0).text()
	}
	p := page{Settings: s, Folder: s.Folders[0], Pins: pins}
	if len(s.Names) > 0 {
		p.Name = s.Names[0]
	}
	return execute(name+".yml.tmpl", p)
}

func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

// Slug converts a suite's folder to a name for workflows and files.
func Slug(folder string) string {
	words := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
