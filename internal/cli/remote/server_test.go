package remote

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// In a GitHub Actions job without a key, each upload gets a token for its own bytes.
func TestPushAsAJob(t *testing.T) {
	var audiences []string
	actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		audiences = append(audiences, r.URL.Query().Get("audience"))
		_, _ = io.WriteString(w, `{"value": "who I am"}`)
	}))
	defer actions.Close()
	vars := map[string]string{"GITHUB_ACTIONS": "true", "ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL + "/token", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}
	f := Server{Env: &env.Env{Globals: &command.Globals{IO: &command.IO{Getenv: func(name string) string { return vars[name] }}}}, URL: "https://pawl.example", Project: "kernels"}
	digest := strings.Repeat("ab", 32)
	token, err := f.Client().Token(t.Context(), digest)
	if err != nil || token != "who I am" {
		t.Errorf("%q, %v", token, err)
	}
	if want := "https://pawl.example/kernels?sha256=" + digest; len(audiences) != 1 || audiences[0] != want {
		t.Errorf("asked for %v, want %s", audiences, want)
	}
	vars["ACTIONS_ID_TOKEN_REQUEST_URL"] = ""
	if _, err := f.Client().Token(t.Context(), digest); !errors.Is(err, identity.ErrNoPermission) {
		t.Errorf("without id-token: write: %v", err)
	}
	vars["PAWL_TOKEN"] = "key"
	if token, err := f.Client().Token(t.Context(), digest); token != "key" || err != nil {
		t.Errorf("a key goes before: %q, %v", token, err)
	}
	vars["PAWL_TOKEN"], vars["GITHUB_ACTIONS"] = "", ""
	if f.Client().Token != nil {
		t.Error("there is a token source outside of GitHub Actions")
	}
}
