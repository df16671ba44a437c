// Command site writes the documentation as a website. It is run at the root of the repository:
//
//	go run ./scripts/site dist/site
//
// The folder needs no server but one that serves files, below any path: all links are relative.
// Every page is also there as Markdown, and llms.txt lists them. Text, navigation and pictures work
// without JavaScript; a script adds search and a switch between light and dark.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/site FOLDER")
		os.Exit(4)
	}
	n, err := build("docs", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(3)
	}
	fmt.Printf("wrote %d pages to %s\n", n, os.Args[1])
}

// build writes the site of the documentation in the folder docs to the folder out, and returns the
// number of pages.
func build(docs, out string) (int, error) {
	if err := empty(out); err != nil {
		return 0, err
	}
	pages, files, err := read(docs)
	if err != nil {
		return 0, err
	}
	sections, err := navigation(pages)
	if err != nil {
		return 0, err
	}
	for _, p := range pages {
		text, err := p.html(sections)
		if err != nil {
			return 0, fmt.Errorf("render %s: %w", p.source, err)
		}
		if err := errors.Join(write(out, p.path+".html", text), write(out, p.path+".md", p.markdown)); err != nil {
			return 0, err
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", name, err)
		}
		if err := write(out, name, data); err != nil {
			return 0, err
		}
	}
	index, err := searchIndex(pages)
	if err != nil {
		return 0, err
	}
	return len(pages), errors.Join(
		write(out, "search.json", index), write(out, "llms.txt", llms(pages, sections)),
		write(out, "site.css", []byte(stylesheet())), write(out, "site.js", script), write(out, "icon.svg", icon),
	)
}

// empty removes an earlier site. It refuses to remove anything else.
func empty(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the folder of the site: %w", err)
	}
	if _, err := os.Stat(filepath.Join(out, "llms.txt")); err != nil { //nolint:gosec // the caller names the folder
		return fmt.Errorf("%s holds something other than a site: choose another folder", out)
	}
	if err := os.RemoveAll(out); err != nil { //nolint:gosec // the caller names the folder, and it holds a site
		return fmt.Errorf("remove the earlier site: %w", err)
	}
	return nil
}

func write(out, name string, data []byte) error {
	path := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the caller names the folder
		return fmt.Errorf("cannot create the folder of %s: %w", name, err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // the caller names the folder
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// read reads all pages, and the names of the other files, of the documentation.
func read(docs string) (pages []*page, files []string, err error) {
	var sources []string
	err = filepath.WalkDir(docs, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(docs, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if strings.HasSuffix(rel, ".md") {
			sources = append(sources, rel)
		} else {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the documentation: %w", err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil {
			return nil, nil, fmt.Errorf("read the documentation: %w", err)
		}
		p, err := parse(docs, name, text)
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, p)
	}
	return pages, files, nil
}
