package tool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// callgrindSlowdown is how many times slower a program may be under callgrind with its
// simulated caches; vector code is the slowest.
const callgrindSlowdown = 200

// CallgrindReady returns why callgrind cannot count on this machine; nil if it can.
func CallgrindReady() error {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return errors.New("valgrind is not installed: install it, for example with apt-get install valgrind")
	}
	return nil
}

// Callgrind counts the instructions, accesses, misses and branches of one run of a host kernel in a
// simulation. It needs no hardware counters, and two runs of the same binary give the same numbers,
// whatever the load of the machine.
func Callgrind(ctx context.Context, t Target) (Result, error) {
	const name = "callgrind"
	if err := CallgrindReady(); err != nil {
		return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error()}
	}
	if l := t.Prepare.Launch; l != nil && l.Kind == "host" {
		return Result{}, &Error{
			Tool: name, What: t.what(), Why: "pawl's launcher confines the kernel to a process that valgrind cannot follow",
			Fix: "profile on a machine where perf can read counters, or write a harness for the suite",
		}
	}
	stem := filepath.Join(t.Dir, t.Stem)
	counts, logs := stem+".callgrind.", stem+".valgrind." // each is followed by a process ID
	if err := removeStale(append(filesWithPrefix(counts), filesWithPrefix(logs)...)...); err != nil {
		return Result{}, &Error{Tool: name, What: t.what(), Why: err.Error()}
	}
	t.Warmup = min(t.Warmup, 1) // one run fills the simulated caches
	wrap := []string{
		"valgrind", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--trace-children=yes",
		"--callgrind-out-file=" + escapePercent(counts) + "%p", "--log-file=" + escapePercent(logs) + "%p",
	}
	if !t.Plain {
		wrap = append(wrap, "--toggle-collect=pawl_profiled*") // a compiler may append to the name
	}
	err := drive(ctx, t, wrap, driveOptions{tool: name, slower: callgrindSlowdown, exact: true})
	why := valgrindComplaint(filesWithPrefix(logs))
	_ = removeStale(filesWithPrefix(logs)...) // already read, and not needed later
	if err != nil {
		_ = removeStale(filesWithPrefix(counts)...) // a partial count is useless
	}
	if why != "" {
		return Result{}, &Error{
			Tool: name, What: t.what(), Why: why, Err: err,
			Fix: "build without AVX-512 for profiling (-mno-avx512f after -march=native, or -march=x86-64-v3), or use a newer valgrind",
		}
	}
	if err != nil {
		return Result{}, err
	}
	return readCallgrind(t, counts)
}

// readCallgrind reads the file of the process that ran the kernel. Each process of the command
// leaves one: the shell and programs before the kernel collected nothing.
func readCallgrind(t Target, start string) (Result, error) {
	files := filesWithPrefix(start)
	if len(files) == 0 {
		return Result{}, &Error{
			Tool: "callgrind", What: t.what(), Why: "valgrind wrote no file " + start + "*",
			Fix: "check that the folder is writable and the disk has space",
		}
	}
	var found Result
	most := 0.0
	for _, file := range files {
		p, err := readFile(file, profile.ReadCallgrind)
		if errors.Is(err, profile.ErrNothingCollected) {
			continue
		}
		if err != nil {
			return Result{}, &Error{Tool: "callgrind", What: t.what(), Why: err.Error(), Err: err}
		}
		if n := p.Launches[0].Facts()["host_instructions"]; n > most {
			most, found.Profile, found.Files = n, p, []string{file}
		}
	}
	if found.Profile == nil {
		return Result{}, &Error{
			Tool: "callgrind", What: t.what(), Why: "the function pawl_profiled did not run: the harness is not native code (Python), or its symbols were stripped",
			Fix: "build without -s and do not strip; profile a Python harness with perf, on a machine with counters",
		}
	}
	for _, file := range files {
		if file != found.Files[0] {
			_ = os.Remove(file) // not needed
		}
	}
	found.Profile.Tool.Settings = append(found.Profile.Tool.Settings, profile.Setting{Name: "iterations", Value: "1"}, profile.Setting{Name: "cache", Value: string(t.Cache)})
	if t.Plain {
		found.Notes = append(found.Notes, "the command does not mark the runs that count: the counts include its startup")
	}
	return found, nil
}

// unknownInstruction matches valgrind's message about an instruction that it cannot run.
var (
	unknownInstruction = lazyregexp.New(`unhandled instruction bytes: (0x[0-9A-Fa-f]+)|Unrecognised instruction at`)
	topFrame           = lazyregexp.New(`at 0x[0-9A-Fa-f]+: ([^\n]{1,200})`)
)

// valgrindComplaint looks for an instruction that valgrind does not know. The program crashes on
// it, and the cause is visible only in the log.
func valgrindComplaint(logs []string) string {
	for _, file := range logs {
		text := readHead(file, 64<<10)
		found := unknownInstruction.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		where := ""
		if _, after, ok := strings.Cut(text, "Unrecognised instruction"); ok {
			if frame := topFrame.FindStringSubmatch(after); frame != nil {
				where = " in " + frame[1]
			}
		}
		if strings.EqualFold(found[1], "0x62") { // prefix of all AVX-512 instructions
			return "valgrind cannot run AVX-512 instructions, which the program uses" + where
		}
		return "valgrind does not support an instruction of the program" + where
	}
	return ""
}
