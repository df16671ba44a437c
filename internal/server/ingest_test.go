package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func TestReportIsKeptOnce(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReportMain)
	first := w.sent("kernels", key, example(1, 3))
	if first.Points != 3 || first.Lane != client.Main || first.Again || first.URL != publicURL+"/p/kernels/runs/1" {
		t.Errorf("receipt: %+v", first)
	}
	again := w.send("kernels", key, example(1, 3))
	var second client.Receipt
	again.into(t, &second)
	if again.StatusCode != http.StatusOK || !second.Again || second.Report != first.Report || !second.Received.Equal(first.Received) {
		t.Errorf("the same again: %d %+v, first %+v", again.StatusCode, second, first)
	}
	other := w.send("kernels", key, example(1, 4))
	if other.StatusCode != http.StatusConflict || other.problem(t).word() != "conflict" {
		t.Errorf("the same run with another body: %d %s", other.StatusCode, other.body)
	}
	read := w.key(p, store.ScopeRead)
	var runs page[client.Run]
	w.want(200, asked{path: "/v1/projects/kernels/runs", key: read}).into(t, &runs)
	if len(runs.Items) != 1 || runs.Items[0].Points != 3 {
		t.Errorf("runs: %+v", runs.Items)
	}
}

// Where a report goes is decided by who sends it.
func TestLanes(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	push, gate := ".github/workflows/pawl-ratchet.yml", ".github/workflows/pawl-gate.yml"
	w.rule(p, push, "push")
	w.rule(p, gate, "pull_request", "workflow_run")
	pull := map[string]any{
		"event_name": "pull_request", "ref": "refs/pull/7/merge", "head_ref": "faster", "base_ref": "main",
		"workflow_ref": "octo/kernels/" + gate + "@refs/pull/7/merge",
	}
	relay := map[string]any{"event_name": "workflow_run", "workflow_ref": "octo/kernels/" + gate + "@refs/heads/main"}
	jobSHA := "0123456789abcdef0123456789abcdef01234567"
	set := func(f func(*client.Report)) func(*client.Report) { return f }
	for n, c := range []struct {
		name   string
		scopes []store.Scope  // of a key,
		claims map[string]any // or of a job
		change func(*client.Report)
		want   client.Lane
		status int
	}{
		{name: "a key that reports", scopes: []store.Scope{store.ScopeReport}, want: client.Branch},
		{name: "a key for main, on main", scopes: []store.Scope{store.ScopeReportMain}, want: client.Main},
		{name: "on a branch", scopes: []store.Scope{store.ScopeReportMain}, change: set(func(r *client.Report) { r.Branch = "faster" }), want: client.Branch},
		{name: "of a pull request from a fork's main", scopes: []store.Scope{store.ScopeReportMain}, change: set(func(r *client.Report) { r.Pull = 3 }), want: client.Branch},
		{name: "with changes that are in no commit", scopes: []store.Scope{store.ScopeReportMain}, change: set(func(r *client.Report) { r.Dirty = true }), want: client.Branch},
		{name: "a job of a push on main", claims: map[string]any{}, change: set(func(r *client.Report) { r.Commit.SHA = jobSHA }), want: client.Main},
		{name: "of another commit", claims: map[string]any{}, status: http.StatusForbidden},
		{name: "a job of a pull request that claims main", claims: pull, change: set(func(r *client.Report) { r.Pull = 1 }), want: client.Branch},
		{name: "a job that hands on what a fork's job made", claims: relay, want: client.Fork},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := *w
			w.t = t
			r := example(100+n, 1)
			if c.change != nil {
				c.change(r)
			}
			body := encodeReport(t, r)
			var with string
			if c.scopes != nil {
				with = w.key(p, c.scopes...)
			} else {
				with = w.token("kernels", body, c.claims)
			}
			a := w.do(asked{method: "POST", path: "/v1/projects/kernels/reports", key: with, body: body})
			if c.status != 0 {
				if a.StatusCode != c.status {
					t.Errorf("%d %s, want %d", a.StatusCode, a.body, c.status)
				}
				return
			}
			var receipt client.Receipt
			a.into(t, &receipt)
			if a.StatusCode != http.StatusCreated || receipt.Lane != c.want {
				t.Errorf("%d %s, want lane %s", a.StatusCode, a.body, c.want)
			}
			run, err := w.store.Run(t.Context(), p.ID, receipt.Report)
			if err != nil {
				t.Fatal(err)
			}
			if c.claims != nil && c.claims["event_name"] == "pull_request" && (run.Pull != 7 || run.Branch != "faster") {
				t.Errorf("the forge says pull request 7 of faster, kept is %d of %s", run.Pull, run.Branch)
			}
			if c.claims != nil && run.Sender["run_id"] != "900" {
				t.Errorf("who sent it: %v", run.Sender)
			}
		})
	}
}

func TestJobTokens(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	w.rule(p, ".github/workflows/pawl-ratchet.yml", "push")
	r := example(1, 1)
	r.Commit.SHA = "0123456789abcdef0123456789abcdef01234567"
	body := encodeReport(t, r)
	path := "/v1/projects/kernels/reports"
	good := w.token("kernels", body, nil)
	for _, c := range []struct {
		name, path, token string
		word              string
	}{
		{"for other bytes", path, w.token("kernels", []byte("other"), nil), "token-audience"},
		{"of another repository", path, w.token("kernels", body, map[string]any{"repository_id": "1002"}), "token-no-rule"},
		{"of another workflow", path, w.token("kernels", body, map[string]any{"workflow_ref": "octo/kernels/.github/workflows/x.yml@refs/heads/main"}), "token-workflow"},
		{"for a project that is not there", "/v1/projects/nothing/reports", w.token("nothing", body, nil), "token-no-rule"},
		{"that is none", path, "eyJhbGciOiJub25lIn0.e30.", "token-header"},
	} {
		a := w.do(asked{method: "POST", path: c.path, key: c.token, body: body})
		if a.StatusCode != http.StatusUnauthorized || a.problem(t).word() != c.word && c.name != "that is none" {
			t.Errorf("a token %s: %d %s, want 401 %s", c.name, a.StatusCode, a.body, c.word)
		}
	}
	w.want(http.StatusCreated, asked{method: "POST", path: path, key: good, body: body})
	w.want(http.StatusOK, asked{method: "POST", path: path, key: good, body: body}) // an answer that was lost
	w.want(http.StatusUnauthorized, asked{path: "/v1/projects/kernels", key: good})

	w.issuer.Broken.Store(true)
	a := w.do(asked{method: "POST", path: path, key: strings.Replace(good, "eyJ", "eyK", 1), body: body})
	if a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a broken token: %d %s", a.StatusCode, a.body)
	}
}

func TestBlobs(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	send, read := w.key(p, store.ScopeReport), w.key(p, store.ScopeRead)
	file := []byte("raw samples")
	path := "/v1/projects/kernels/blobs/" + digest(file)
	w.want(404, asked{method: "HEAD", path: path, key: send})
	wrong := w.do(asked{method: "POST", path: path, key: send, body: []byte("raw sampleS")})
	if wrong.StatusCode != http.StatusUnprocessableEntity || wrong.problem(t).word() != "digest" {
		t.Errorf("other bytes: %d %s", wrong.StatusCode, wrong.body)
	}
	w.want(404, asked{method: "HEAD", path: path, key: send})
	w.want(201, asked{method: "POST", path: path, key: send, body: file})
	w.want(200, asked{method: "POST", path: path, key: send, body: file})
	w.want(200, asked{method: "HEAD", path: path, key: send})
	w.want(403, asked{path: path, key: send})
	got := w.want(200, asked{path: path, key: read})
	if string(got.body) != string(file) || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") || got.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
		t.Errorf("a blob came back as %q with %v", got.body, got.Header)
	}
	w.want(304, asked{path: path, key: read, header: map[string]string{"If-None-Match": got.Header.Get("ETag")}})
	for _, bad := range []string{"/v1/projects/kernels/blobs/abc", "/v1/projects/kernels/blobs/" + strings.ToUpper(digest(file)), "/v1/projects/kernels/blobs/" + strings.Repeat("z", 64)} {
		w.want(400, asked{method: "POST", path: bad, key: send, body: file})
	}

	// A report may only name what is here.
	r := example(1, 1)
	r.Blobs = []client.Blob{{Digest: digest([]byte("missing")), Size: 7, Kind: client.BlobProfile}, {Digest: digest(file), Size: int64(len(file)), Kind: client.BlobProfile}}
	a := w.send("kernels", send, r)
	if problem := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || len(problem.Missing) != 1 || problem.Missing[0] != digest([]byte("missing")) {
		t.Errorf("a report with a blob that is not here: %d %s", a.StatusCode, a.body)
	}
	missing := []byte("missing")
	w.want(201, asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(missing), key: send, body: missing})
	w.sent("kernels", send, r)

	// A job's token is for the digest in the path.
	w.rule(p, ".github/workflows/pawl-ratchet.yml", "push")
	third := []byte("third")
	path = "/v1/projects/kernels/blobs/" + digest(third)
	token := w.token("kernels", third, nil)
	w.want(401, asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(file), key: token, body: file})
	w.want(404, asked{method: "HEAD", path: path, key: token})
	w.want(201, asked{method: "POST", path: path, key: token, body: third})
}
