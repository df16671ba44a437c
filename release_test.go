package pawl_test

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needsSources skips where the repository is no clone, or there is no time.
func needsSources(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds pawl")
	}
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("not a clone: ", err)
	}
}

// go install works for whoever has only the module: from a proxy, at a version, with no
// file of the repository around. What is not in the module's archive is not needed. All
// that can fail fails before the compiler runs, so that only releases wait for it
// (PAWL_RELEASE=1).
func TestGoInstall(t *testing.T) {
	needsSources(t)
	const at = "github.com/goatnote-inc/pawl@v0.98.7"
	proxy := t.TempDir()
	versions := filepath.Join(proxy, "github.com", "goatnote-inc", "pawl", "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, ".", nil, "git", "archive", "--format=zip", "--prefix="+at+"/", "--output="+filepath.Join(versions, "v0.98.7.zip"), "HEAD")
	for name, text := range map[string]string{"list": "v0.98.7\n", "v0.98.7.info": `{"Version":"v0.98.7"}`, "v0.98.7.mod": zipped(t, filepath.Join(versions, "v0.98.7.zip"), at+"/go.mod")} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOMODCACHE"))
	bin := t.TempDir()
	env := []string{
		"GOBIN=" + bin, "GOMODCACHE=" + filepath.Join(t.TempDir(), "modules"), "GOFLAGS=-trimpath -modcacherw",
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")),
		"GONOSUMDB=*", "GOSUMDB=off", "CGO_ENABLED=0", "GOWORK=off",
	}
	if os.Getenv("PAWL_RELEASE") == "" {
		run(t, t.TempDir(), env, "go", "install", "-n", "github.com/goatnote-inc/pawl/cmd/pawl@v0.98.7")
		return
	}
	run(t, t.TempDir(), env, "go", "install", "github.com/goatnote-inc/pawl/cmd/pawl@v0.98.7")
	if got := strings.TrimSpace(run(t, ".", nil, filepath.Join(bin, "pawl"), "--version")); got != "pawl 0.98.7" {
		t.Errorf("it calls itself %q", got)
	}
}

// verify-release says yes to what was released and no to everything else.
func TestVerifyRelease(t *testing.T) {
	script, err := filepath.Abs("scripts/verify-release")
	if err != nil {
		t.Fatal(err)
	}
	archive, sum := "pawl_9.8.7_linux_amd64.tar.gz", fmt.Sprintf("%x", sha256.Sum256([]byte("archive")))
	good := map[string]string{archive: "archive", "checksums.txt": sum + "  " + archive + "\n"}
	for _, tc := range []struct {
		name   string
		change map[string]string // "-" takes a file away
		gh     string            // what a gh on the path does
		need   string
		ok     bool
		says   string
	}{
		{name: "good", ok: true, says: "note  only checksums"},
		{name: "a flipped byte", change: map[string]string{archive: "brchive"}, says: "is not what"},
		{name: "a missing file", change: map[string]string{archive: "-"}, says: "is missing"},
		{name: "no checksums", change: map[string]string{"checksums.txt": "-"}, says: "checksums.txt is missing"},
		{name: "empty checksums", change: map[string]string{"checksums.txt": ""}, says: "not in"},
		{name: "another file's checksum", change: map[string]string{"checksums.txt": sum + "  x" + archive + "\n"}, says: "not in"},
		{name: "two checksums", change: map[string]string{"checksums.txt": sum + "  " + archive + "\n" + strings.Repeat("0", 64) + "  " + archive + "\n"}, says: "twice"},
		{name: "attested", gh: "exit 0", need: "required", ok: true, says: "built by release.yml"},
		{name: "not attested", gh: "exit 1", says: "no attestation"},
		{name: "no gh, but wanted", need: "required", says: "gh is not here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, bin := t.TempDir(), t.TempDir()
			for name, text := range good {
				if other, ok := tc.change[name]; ok {
					text = other
				}
				if text != "-" {
					write(t, filepath.Join(dir, name), text, 0o644)
				}
			}
			for _, tool := range []string{"sh", "awk", "sha256sum", "cut", "basename", "dirname"} {
				path, err := exec.LookPath(tool)
				if err != nil {
					t.Skip(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.gh != "" {
				write(t, filepath.Join(bin, "gh"), "#!/bin/sh\n"+tc.gh+"\n", 0o755)
			}
			for _, what := range []string{dir, filepath.Join(dir, archive)} {
				cmd := exec.CommandContext(t.Context(), "/bin/sh", script, what)
				cmd.Env = []string{"PATH=" + bin, "PAWL_ATTESTATION=" + tc.need}
				out, err := cmd.CombinedOutput()
				wantText := tc.says
				if what == dir && tc.says == "not in" {
					wantText = "FAIL" // a folder is asked for what checksums.txt names
				}
				if (err == nil) != tc.ok || !strings.Contains(string(out), wantText) {
					t.Errorf("%s: %v\n%s\nwant %q", what, err, out, wantText)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a program with more environment and returns its output; it must succeed. A
// program that is not there gives nothing.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	if _, err := exec.LookPath(name); err != nil && !strings.Contains(name, "/") {
		return ""
	}
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

func zipped(t *testing.T, archive, name string) string {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
