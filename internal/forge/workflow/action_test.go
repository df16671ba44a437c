package workflow

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The one step of action.yml, as a runner runs it. A release is a shell script that says
// its version, in an archive behind a file: address.
func TestActionInstallsWhatItsChecksumSays(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "sha256sum", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	arch, ok := map[string]string{"amd64": "linux_amd64", "arm64": "linux_arm64"}[runtime.GOARCH]
	if !ok || runtime.GOOS != "linux" {
		t.Skip("there are releases for Linux only")
	}
	archive, other := releaseOf(t, "0.3.0"), releaseOf(t, "6.6.6")
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	name := "pawl_0.3.0_" + arch + ".tar.gz"
	table := "# a comment\n" + strings.Repeat("0", 64) + "  pawl_0.2.9_" + arch + ".tar.gz\n" + sum(archive) + "  " + name + "\n"
	for what, c := range map[string]struct {
		version, checksum, table string
		serve                    []byte // what lies where the release should
		baked                    bool   // the runner has a pawl
		want                     string // version that is installed; empty when it must fail
		says                     string
	}{
		"a release":                   {version: "0.3.0", table: table, serve: archive, want: "0.3.0"},
		"the newest by default":       {table: table, serve: archive, want: "0.3.0"},
		"a checksum of the user's":    {version: "0.3.0", checksum: sum(archive), serve: archive, want: "0.3.0"},
		"another archive":             {version: "0.3.0", table: table, serve: other, says: "is not what was released"},
		"another archive, and sum":    {version: "0.3.0", checksum: sum(other), table: table, serve: archive, says: "is not what was released"},
		"a release without a sum":     {version: "0.4.0", table: table, serve: archive, says: "checksum of pawl_0.4.0_" + arch + ".tar.gz is not known"},
		"an archive that is cut":      {version: "0.3.0", table: table, serve: archive[:len(archive)/2], says: "is not what was released"},
		"nothing there":               {version: "0.3.0", table: table, says: "cannot download"},
		"no table":                    {table: "# none\n", serve: archive, says: "knows no release"},
		"a version with a path in it": {version: "../../x", table: table, serve: archive, says: "is no version"},
		"a version with a command":    {version: "0.3.0;id", table: table, serve: archive, says: "is no version"},
		"a sum that is none":          {version: "0.3.0", checksum: "sha1:1", table: table, serve: archive, says: "is no SHA-256"},
		"the runner's own":            {version: "installed", baked: true, want: "9.9.9"},
		"the runner has none":         {version: "installed", says: "has no pawl"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name string, text []byte, mode os.FileMode) string {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, text, mode); err != nil {
					t.Fatal(err)
				}
				return path
			}
			script, err := os.ReadFile("../../../scripts/action")
			if err != nil {
				t.Fatal(err)
			}
			run := put("action/scripts/action", script, 0o755)
			put("action/checksums.txt", []byte(c.table), 0o644)
			if c.serve != nil {
				put("mirror/v0.3.0/"+name, c.serve, 0o644)
			}
			path := "/usr/local/sbin:/usr/bin:/bin"
			if c.baked {
				path = filepath.Dir(put("baked/pawl", []byte(says("9.9.9")), 0o755)) + ":" + path
			}
			outputs, paths := put("output", nil, 0o644), put("path", nil, 0o644)
			cmd := exec.CommandContext(t.Context(), "bash", run)
			cmd.Env = []string{
				"PATH=" + path, "RUNNER_TEMP=" + filepath.Join(dir, "temp"), "GITHUB_OUTPUT=" + outputs, "GITHUB_PATH=" + paths,
				"PAWL_ACTION=" + filepath.Join(dir, "action"), "PAWL_VERSION=" + c.version, "PAWL_CHECKSUM=" + c.checksum, "PAWL_URL=file://" + filepath.Join(dir, "mirror"),
			}
			out, err := cmd.CombinedOutput()
			if c.want == "" {
				if err == nil || !strings.Contains(string(out), c.says) || !strings.Contains(string(out), "::error") {
					t.Errorf("%v, want an error with %q:\n%s", err, c.says, out)
				}
				if _, err := os.Stat(filepath.Join(dir, "temp/pawl-bin/pawl")); err == nil {
					t.Error("something is installed nevertheless")
				}
				return
			}
			if got, _ := os.ReadFile(outputs); err != nil || string(got) != "version="+c.want+"\n" {
				t.Errorf("%v, output %q:\n%s", err, got, out)
			}
			if got, _ := os.ReadFile(paths); (len(got) == 0) != c.baked {
				t.Errorf("on the path of the job: %q", got)
			}
		})
	}
}

func says(version string) string { return "#!/bin/sh\necho pawl " + version + "\n" }

// releaseOf is an archive that also has what a release must not write beside pawl.
func releaseOf(t *testing.T, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"pawl": says(version), "../escaped": "x"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
