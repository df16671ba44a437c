package githubtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// validator validates requests and responses against GitHub's description.
type validator struct{ router routers.Router }

// loadValidator reads the description once; nil if there is none.
var loadValidator = sync.OnceValues(func() (*validator, error) {
	file := os.Getenv("PAWL_GITHUB_API")
	if file == "" {
		return nil, nil
	}
	doc, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the description of GitHub's API (PAWL_GITHUB_API, made by scripts/github-api): %w", err)
	}
	doc.Servers = nil // any host
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("cannot read the paths of %s: %w", file, err)
	}
	return &validator{router}, nil
})

// slashed matches the paths whose last part may contain slashes, which the description
// cannot express.
var slashed = lazyregexp.New(`^(/repos/[^/]+/[^/]+/(?:contents|git/refs?)/)(.+)$`)

// check lists violations of the description.
func (v *validator) check(r *http.Request, body []byte, a *response) []string {
	if a.undocumented {
		return nil
	}
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	if m := slashed.FindStringSubmatch(in.URL.Path); m != nil {
		in.URL.RawPath = m[1] + url.PathEscape(m[2])
	}
	if q := in.URL.Query(); q.Has("created") {
		q.Del("created") // described as a time, but its text says that it is a range of times
		in.URL.RawQuery = q.Encode()
	}
	route, params, err := v.router.FindRoute(in)
	if err != nil {
		return []string{"the description of GitHub's API has no such path (add it to scripts/github-api): " + err.Error()}
	}
	// Any path can fail in ways that the description does not list, but success must be
	// described.
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: a.code < 400}
	asked := &openapi3filter.RequestValidationInput{Request: in, PathParams: params, Route: route, Options: options}
	var problems []string
	// Requests that the server rejects may be as invalid as the test wants.
	if err := openapi3filter.ValidateRequest(r.Context(), asked); err != nil && a.code < 400 {
		problems = append(problems, "invalid request: "+brief(err))
	}
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if len(a.body) > 0 {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: a.code, Header: header, Body: io.NopCloser(bytes.NewReader(a.body)), Options: options,
	})
	if err != nil {
		problems = append(problems, "invalid response: "+brief(err))
	}
	return problems
}

// brief omits the full schema that the error would print.
func brief(err error) string {
	text := err.Error()
	if inner, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		text = strings.Join(inner.JSONPointer(), "/") + ": " + inner.Reason
	}
	text, _, _ = strings.Cut(text, "\nSchema:")
	return text
}
