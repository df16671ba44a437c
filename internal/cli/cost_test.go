package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/ratchet"
)

// zipped returns an artifact with one file.
func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Only runs of the repository itself count, and GitHub says which branch a run was on.
// Artifacts that are not accounts are skipped and reported.
func TestCostOfARepository(t *testing.T) {
	t.Parallel()
	server := githubtest.New(t)
	began := time.Now().Add(-time.Hour)
	leave := func(repo int64, branch string, v ratchet.Verdict, dollars float64) {
		id := server.AddRun(forge.Run{Event: "pull_request", Head: forge.Head{Repo: repo, Branch: branch, SHA: strings.Repeat("a", 40)}, Status: "completed", Conclusion: "success"})
		began = began.Add(time.Minute)
		data, err := json.Marshal(cost.RunCost{
			Schema: cost.Schema, Time: began, Seconds: 60, PricePerHour: 60 * dollars, Dollars: dollars, Verdict: v, Branch: "not-what-it-says",
		})
		if err != nil {
			t.Fatal(err)
		}
		server.AddArtifact(id, cost.ArtifactName, zipped(t, cost.FileName, data))
	}
	leave(0, "fix", ratchet.Regression, 2)
	leave(0, "fix", ratchet.Maintained, 2)
	leave(0, "other", ratchet.Regression, 2)
	leave(9009, "fix", ratchet.Regression, 5000)
	broken := server.AddRun(forge.Run{Event: "push", Head: forge.Head{Branch: "main", SHA: strings.Repeat("b", 40)}, Status: "completed", Conclusion: "success"})
	for _, bad := range [][]byte{[]byte("no zip"), zipped(t, "other.json", []byte("{}")), zipped(t, cost.FileName, []byte(`{"schema":"x"}`)), zipped(t, "../"+cost.FileName, []byte("{}"))} {
		server.AddArtifact(broken, cost.ArtifactName, bad)
	}
	server.AddArtifact(broken, "pawl-results", []byte("not an account"))

	ask := func(token string) (int, string, string) {
		var out, errs bytes.Buffer
		env := map[string]string{"GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": server.Repo.String(), "GITHUB_TOKEN": token}
		code := cli.Main(context.Background(), []string{"ci", "cost", "--github", "--json"}, &command.IO{Out: &out, Err: &errs, Getenv: func(k string) string { return env[k] }})
		return code, out.String(), errs.String()
	}
	code, out, errs := ask(server.Token)
	var got cost.Summary
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	if got.Runs != 3 || got.Dollars != 6 || got.MonthRuns != 3 || got.Caught != 1 || got.Found != 1 {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(errs, "skipped artifact"); n != 4 {
		t.Errorf("%d of 4 are reported\n%s", n, errs)
	}
	if code, _, errs := ask("an unknown token"); code != 3 {
		t.Errorf("exit %d for a token that GitHub refuses: %s", code, errs)
	}
}
