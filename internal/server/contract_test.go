package server

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"
)

var described = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(contract) })

var contractRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := described()
	if err != nil {
		return nil, err
	}
	open := *doc
	open.Servers = nil // any host
	return gorillamux.NewRouter(&open)
})

// holdAgainstContract says what of a question and its answer openapi.yaml does not
// allow. What is refused may be as wrong as a test wants it; an answer may not.
func holdAgainstContract(r *http.Request, asked []byte, resp *http.Response, answered []byte) error {
	router, err := contractRouter()
	if err != nil {
		return err
	}
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(asked))
	route, params, err := router.FindRoute(in)
	if err != nil { // no such path, as some tests want it: it must be told as a problem or by the mux itself
		if resp.StatusCode >= 400 {
			return nil
		}
		return err
	}
	options := &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		ExcludeRequestBody:  strings.Contains(r.URL.Path, "/blobs/"),
		ExcludeResponseBody: resp.Header.Get("Content-Type") != "application/json" && resp.Header.Get("Content-Type") != "application/problem+json",
	}
	question := &openapi3filter.RequestValidationInput{Request: in, PathParams: params, Route: route, Options: options}
	if resp.StatusCode < 400 {
		if err := openapi3filter.ValidateRequest(r.Context(), question); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: question, Status: resp.StatusCode, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(answered)), Options: options,
	})
}

// The table of routes and the document say the same.
func TestContractHasEveryRoute(t *testing.T) {
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var written, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			written = append(written, method+" "+path)
		}
	}
	for _, r := range routes {
		served = append(served, r.Method+" "+r.Path)
	}
	slices.Sort(written)
	slices.Sort(served)
	if diff := cmp.Diff(written, served); diff != "" {
		t.Errorf("openapi.yaml (-) and routes.go (+) differ:\n%s", diff)
	}
}

// The check of answers can fail: an answer with a field too many is found.
func TestContractIsHeld(t *testing.T) {
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/v1/projects", nil)
	good := `{"items":[]}`
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}}
	if err := holdAgainstContract(r, nil, resp, []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{"items":[],"more":1}`, `{}`, `{"items":[{"slug":"a"}]}`} {
		if holdAgainstContract(r, nil, resp, []byte(bad)) == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	resp.StatusCode = http.StatusTeapot
	if holdAgainstContract(r, nil, resp, []byte(good)) == nil {
		t.Error("a status that is not described was taken")
	}
}
