package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func TestReadGated(t *testing.T) {
	dir := t.TempDir()
	secret, short := filepath.Join(dir, "secret"), filepath.Join(dir, "short")
	for file, text := range map[string]string{secret: "0123456789abcdef0123456789abcdef\n", short: "abc\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := fleetstore.Gated{Repository: "octo/kernels", Suite: "kernels/pawl.yaml", Models: []string{"l4", "h100"}, ForkModels: []string{"l4-forks"}}
	for name, c := range map[string]struct {
		change func(*fleetstore.Gated)
		secret string
		wrong  string
	}{
		"complete":                 {func(*fleetstore.Gated) {}, secret, ""},
		"no models for forks":      {func(w *fleetstore.Gated) { w.ForkModels = nil }, secret, ""},
		"no repository":            {func(w *fleetstore.Gated) { w.Repository = "" }, secret, "--repository"},
		"a path as repository":     {func(w *fleetstore.Gated) { w.Repository = "../kernels" }, secret, "--repository"},
		"no models":                {func(w *fleetstore.Gated) { w.Models = nil }, secret, "--models"},
		"not a model":              {func(w *fleetstore.Gated) { w.ForkModels = []string{"L4;x"} }, secret, "--fork-models"},
		"a suite outside":          {func(w *fleetstore.Gated) { w.Suite = "../pawl.yaml" }, secret, "suite"},
		"no secret":                {func(*fleetstore.Gated) {}, "", "--secret-file"},
		"a secret that is guessed": {func(*fleetstore.Gated) {}, short, "the minimum is 16"},
		"a secret that is missing": {func(*fleetstore.Gated) {}, filepath.Join(dir, "none"), "cannot read the secret"},
	} {
		w := good
		c.change(&w)
		err := readGated(&w, c.secret)
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
		if err == nil && w.Secret != "0123456789abcdef0123456789abcdef" {
			t.Errorf("%s: secret %q", name, w.Secret)
		}
	}
}

func TestWebhooksOf_NeedCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		env  environment
		want bool
	}{
		"none":    {environment{}, false},
		"a token": {environment{"GITHUB_TOKEN": "x"}, true},
		"an App":  {environment{"PAWL_APP_ID": "7"}, true},
	} {
		if got := webhooksOf(c.env) != nil; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
