package lesson

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"sync"
)

//go:embed starter/*.md
var starterFiles embed.FS

// readStarters reads them all, but those that a cache has.
func readStarters(c *cache) ([]*Lesson, error) {
	files, err := starterFiles.ReadDir("starter")
	if err != nil {
		return nil, fmt.Errorf("read the starter set: %w", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	var list []*Lesson
	var problems []error
	for _, r := range each(names, func(file string) (*Lesson, error) { return readStarter(c, file) }) {
		if problems = append(problems, r.err); r.err == nil {
			list = append(list, r.value)
		}
	}
	return list, errors.Join(problems...)
}

func readStarter(c *cache, file string) (*Lesson, error) {
	text, err := starterFiles.ReadFile("starter/" + file)
	if err != nil {
		return nil, err
	}
	l, err := c.parse("starter/"+file, text)
	if err != nil {
		return nil, err
	}
	l.Name = strings.TrimSuffix(file, ".md")
	return l, nil
}

// starter is read once a process.
var starter = sync.OnceValues(func() ([]*Lesson, error) { return readStarters(openCache("", "")) })

// Starter are the lessons that pawl comes with: proposed, from what people and vendors wrote
// down, without a gain. A test reads them all, so that none is missing here.
func Starter() []*Lesson {
	list, _ := starter()
	return list
}
