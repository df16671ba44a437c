package build

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runEnclosed runs a line for sh in an enclosure of dir and returns what it printed. It has
// descriptor 3, from which it reads "hello", and descriptor 4.
func runEnclosed(t *testing.T, e *Enclosure, v View, line string, env ...string) (printed, sent string) {
	t.Helper()
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := write.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	write.Close()
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", line)
	cmd.Env = append(os.Environ(), env...)
	cmd.ExtraFiles = []*os.File{in, out}
	started, err := e.Confine(cmd, v)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cmd.CombinedOutput()
	started()
	out.Close()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, text)
	}
	buffer := make([]byte, 100)
	n, _ := said.Read(buffer)
	return strings.TrimSpace(string(text)), string(buffer[:n])
}

func enclose(t *testing.T, dir string, outputs ...string) *Enclosure {
	t.Helper()
	e, err := sandbox(t).Enclose(t.Context(), dir, outputs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Remove)
	return e
}

// exchange makes a folder that programs in a sandbox can write to.
func exchange(t *testing.T) string {
	t.Helper()
	dir := reachable(t)
	if err := ChownForSandbox(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEnclosure(t *testing.T) {
	secret := filepath.Join(reachable(t), "kernel-outputs")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	shm, err := os.CreateTemp("/dev/shm", "pawl-test-")
	if err != nil {
		t.Skip("needs /dev/shm: ", err)
	}
	t.Cleanup(func() { os.Remove(shm.Name()) })
	defer shm.Close()
	dir := sources(t, map[string]string{"sub/oracle": "code", ".gitignore": "ignored\nbuilt\n", "sub/other": ""})
	for _, name := range []string{"sub/ignored", "sub/built"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(filepath.Base(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := exchange(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port

	e := enclose(t, filepath.Join(dir, "sub"), "built")
	if err := os.WriteFile(filepath.Join(dir, "sub", "oracle"), []byte("changed later"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, line, want string }{
		{"it runs in its folder and reads the tree as it was", `cat oracle`, "code"},
		{"what was built is there", `cat built`, "built"},
		{"what git ignores is not there", `cat ignored 2>/dev/null || echo none`, "none"},
		{"git's own files are not there", `test -e ../.git && echo there || echo none`, "none"},
		{"the tree cannot be written to", `echo x 2>/dev/null > oracle && echo written || echo refused`, "refused"},
		{"other folders are not there", `cat ` + secret + ` 2>/dev/null || echo none`, "none"},
		{"the machine's shared memory is not there", `ls /dev/shm`, ""},
		{"other processes are not there", `ls /proc | grep -c '^[0-9]'| awk '{print ($1 < 10)}'`, "1"},
		{"there is no network", fmt.Sprintf(`bash -c 'echo > /dev/tcp/127.0.0.1/%d' 2>/dev/null && echo reached || echo alone`, port), "alone"},
		{"it has a folder for temporary files", `echo x > /tmp/x && cat /tmp/x`, "x"},
		{"which is a new one each time", `cat /tmp/x 2>/dev/null || echo none`, "none"},
		{"its home is empty", `ls -A $HOME`, ""},
		{"it gets the variables that are named", `echo $PAWL_TEST_A,$PAWL_TEST_B`, "a,"},
		{"it writes to the folder that is named", `echo result > ` + write + `/out && echo written`, "written"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, sent := runEnclosed(t, e, View{Write: []string{write}, Variables: []string{"PAWL_TEST_A"}}, tt.line+`; cat <&3 >&4`, "PAWL_TEST_A=a", "PAWL_TEST_B=b")
			if got != tt.want || sent != "hello" {
				t.Errorf("%q and %q on descriptor 4, want %q and hello", got, sent, tt.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(write, "out")); err != nil || string(text) != "result\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// An interpreter outside of the system's folders is shown with its packages, and comes first.
func TestInterpreter(t *testing.T) {
	venv := filepath.Join(reachable(t), "venv")
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("needs python3 with venv: %v\n%s", err, out)
	}
	packages, _ := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err := os.WriteFile(filepath.Join(packages[0], "installed.py"), []byte("value = 7"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=relative:" + filepath.Join(venv, "bin") + ":/usr/bin"}
	read, programs := Interpreter(t.Context(), "python3 oracle.py", env)
	if len(read) == 0 || read[0] != venv || len(programs) != 1 || programs[0] != filepath.Join(venv, "bin") {
		t.Fatalf("%v, %v", read, programs)
	}
	for _, line := range []string{"/usr/bin/python3 oracle.py", "./oracle", "./python3 oracle.py", "$PYTHON oracle.py"} {
		if read, programs := Interpreter(t.Context(), line, env); len(read)+len(programs) > 0 {
			t.Errorf("%s: %v, %v, want none", line, read, programs)
		}
	}
	e := enclose(t, sources(t, map[string]string{"oracle.py": "import installed, sys; print(installed.value, sys.prefix)"}))
	got, _ := runEnclosed(t, e, View{Read: read, Path: programs}, "python3 oracle.py")
	if want := "7 " + venv; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
