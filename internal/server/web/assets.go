package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/report"
)

//go:embed assets
var embedded embed.FS

// AssetPath is the path at which Assets must be served.
const AssetPath = "/assets/"

// asset is a file that pages load.
type asset struct {
	kind    string
	text    []byte
	smaller []byte // compressed by gzip; nil if that is not smaller
}

// assets returns all files by name, and the name of their folder. The folder is named after the digest of
// all files, so that a file never changes and modules find each other next to it.
var assets = sync.OnceValues(func() (map[string]asset, string) {
	files := map[string]asset{}
	sum := sha256.New()
	add := func(name string, text []byte) {
		sum.Write([]byte(name))
		sum.Write(text)
		files[name] = asset{kind: mime.TypeByExtension(path.Ext(name)), text: text, smaller: zipped(text)}
	}
	_ = fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		add(strings.TrimPrefix(name, "assets/"), text)
		return err
	}) // embedded files can be read
	add("report.css", []byte(report.PageStyle()))
	add("report.js", []byte(report.PageScript()))
	add("themes.css", []byte(themes(report.PageStyle())))
	return files, hex.EncodeToString(sum.Sum(nil)[:8])
})

func zipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(text)                                  // a write to memory cannot fail
	_ = w.Close()
	if b.Len() >= len(text) {
		return nil
	}
	return b.Bytes()
}

// themes lets a user override the browser's choice of palette. It defines both palettes of a report under a
// name.
func themes(style string) string {
	light, rest, _ := strings.Cut(after(style, ":root {"), "}")
	dark, _, _ := strings.Cut(after(rest, ":root {"), "}")
	return ":root[data-theme=light] {" + strings.Replace(light, "light dark", "light", 1) + "}\n:root[data-theme=dark] { color-scheme: dark;" + dark + "}\n"
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}

// assetURL returns the URL of a file.
func assetURL(name string) string {
	_, folder := assets()
	return AssetPath + folder + "/" + name
}

// Assets serves the files that pages load. They never change: a new build uses a new folder.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files, folder := assets()
		at, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, AssetPath), "/")
		file, known := files[name]
		if !known || at != folder {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", file.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		body := file.text
		if file.smaller != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = file.smaller
		}
		_, _ = w.Write(body)
	})
}
