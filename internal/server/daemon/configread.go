package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

const (
	maxConfig = 1 << 20
	maxSecret = 64 << 10
)

// load combines the settings: defaults, then the file, then the environment.
func (g *globals) load() (*config, error) {
	env := newEnvironment(g.Environ)
	c := defaults(env)
	if path := cmp.Or(g.config, env["PAWLD_CONFIG"]); path != "" {
		text, err := readBounded(path, maxConfig)
		if err != nil {
			return nil, usageError{fmt.Errorf("cannot read the settings: %w", err)}
		}
		if err := c.readFile(path, text); err != nil {
			return nil, usageError{err}
		}
	}
	if err := c.readEnvironment(env); err != nil {
		return nil, usageError{err}
	}
	return c, c.finish()
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return text, err
}

// readFile applies a YAML file. Unknown and duplicate keys are errors.
func (c *config) readFile(path string, text []byte) error {
	r := fileReader{Walker: strictyaml.Walker{Problems: &strictyaml.Problems{}, File: path}, c: c, known: map[string]setting{}, seen: map[string]bool{}}
	for _, s := range c.settings() {
		r.known[s.key] = s
	}
	if root, _ := r.Parse(text, strictyaml.Format{Name: "a settings file", MaxBytes: maxConfig}); root != nil {
		r.walk("", root)
	}
	return r.Err()
}

type fileReader struct {
	strictyaml.Walker
	c     *config
	known map[string]setting
	seen  map[string]bool
}

func (r *fileReader) bad(n *yaml.Node, format string, args ...any) { r.Fail(n, "", format, args...) }

func (r *fileReader) walk(prefix string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if prefix == "" {
			r.bad(n, "expected keys and values")
		} else {
			r.bad(n, "%s: expected keys and values", strings.TrimSuffix(prefix, "."))
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := prefix + key.Value
		switch {
		case r.seen[name]:
			r.bad(key, "%s is set twice", name)
		case r.isGroup(name):
			r.seen[name] = true
			if value.Tag != "!!null" {
				r.walk(name+".", value)
			}
		default:
			r.seen[name] = true
			r.set(name, key, value)
		}
	}
}

func (r *fileReader) isGroup(name string) bool {
	for key := range r.known {
		if strings.HasPrefix(key, name+".") {
			return true
		}
	}
	return false
}

func (r *fileReader) set(name string, key, value *yaml.Node) {
	s, ok := r.known[name]
	secretFile := false
	if !ok {
		if base, cut := strings.CutSuffix(name, "_file"); cut {
			s, ok = r.known[base]
			_, secret := s.value.(*identity.Token)
			ok = ok && secret
			secretFile = ok
		}
	}
	if !ok {
		r.bad(key, "%s", unknownSetting(name, r.known))
		return
	}
	var text string
	switch list, isList := s.value.(*[]string); {
	case value.Kind == yaml.SequenceNode && isList:
		*list = nil
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode {
				r.bad(item, "%s: expected a list of strings", name)
				return
			}
			*list = append(*list, item.Value)
		}
		r.c.from[s.key] = fmt.Sprintf("%s:%d", r.File, key.Line)
		return
	case value.Kind != yaml.ScalarNode:
		r.bad(value, "%s: expected a single value", name)
		return
	case value.Tag == "!!null":
		return
	default:
		text = value.Value
	}
	var err error
	if secretFile {
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(r.File), text)
		}
		text, err = readSecret(text)
	}
	if err == nil {
		err = parseValue(s.value, text)
	}
	if err != nil {
		r.bad(value, "%s: %v", name, err)
		return
	}
	r.c.from[s.key] = fmt.Sprintf("%s:%d", r.File, key.Line)
}

// readEnvironment applies PAWLD_* variables, which override the file. An unknown one is an error: a typo
// would otherwise silently leave a default.
func (c *config) readEnvironment(env environment) error {
	known := map[string]setting{}
	for _, s := range c.settings() {
		known[variable(s.key)] = s
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, "PAWLD_") || name == "PAWLD_CONFIG" || strings.HasPrefix(name, "PAWLD_FAILPOINT") {
			continue
		}
		s, ok := known[name]
		text := env[name]
		var err error
		if base, cut := strings.CutSuffix(name, "_FILE"); !ok && cut {
			s, ok = known[base]
			_, secret := s.value.(*identity.Token)
			if ok = ok && secret; ok {
				if _, both := env[base]; both {
					wrong = append(wrong, fmt.Errorf("%s and %s are both set: set only one", base, name))
					continue
				}
				text, err = readSecret(text)
			}
		}
		if !ok {
			wrong = append(wrong, errors.New(unknownSetting(name, known)))
			continue
		}
		if err == nil {
			err = parseValue(s.value, text)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		c.from[s.key] = name
	}
	return errors.Join(wrong...)
}

func unknownSetting(name string, known map[string]setting) string {
	text := "unknown setting " + name
	if near := spell.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
		text += ": did you mean " + near + "?"
	}
	return text
}

// variable returns the environment variable of a setting: PAWLD_DATABASE_URL.
func variable(key string) string {
	return "PAWLD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func readSecret(path string) (string, error) {
	text, err := readBounded(path, maxSecret)
	if err != nil {
		return "", fmt.Errorf("cannot read the secret: %w", err)
	}
	if v := strings.TrimSpace(string(text)); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("%s is empty", path)
}

func parseValue(into any, text string) (err error) {
	switch v := into.(type) {
	case *string:
		*v = text
	case *identity.Token:
		*v = identity.NewToken(text)
	case *bool:
		if *v, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *int:
		if *v, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
	case *float64:
		if *v, err = strconv.ParseFloat(text, 64); err != nil || *v != *v {
			return fmt.Errorf("%q is not a number", text)
		}
	case *time.Duration:
		if *v, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is not a duration such as 30s or 15m", text)
		}
	case *[]string:
		*v = nil
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*v = append(*v, part)
			}
		}
	default:
		return fmt.Errorf("settings of type %T are not supported", into)
	}
	return nil
}
