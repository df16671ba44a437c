package poison

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

// poison is one hostile parcel.
type poison struct {
	name string
	what string // it tries
	// The parcel: a record that is bent and files beside it, or an archive of its own.
	slower  map[string]float64
	bend    func(*measure.Run)
	files   map[string]string
	entries []entry
	archive func() []byte
	suite   string // of the head, where that is not the base's

	want forge.Conclusion // for a branch of the repository; neutral where it is empty
	says string           // in the report
	big  bool             // it is run as a process of its own, as a fork's only, and its memory is looked at
}

// another pull request, which nothing may reach.
const (
	otherSHA = "9999999999999999999999999999999999999999"
	loose    = "policy: {slower: 50%}\n"
)

var slow = map[string]float64{"softmax/N128": 0.2}

func each(f func(*measure.Case)) func(*measure.Run) {
	return func(run *measure.Run) {
		for i := range run.Cases {
			f(&run.Cases[i])
		}
	}
}

// archives break the unpacking.
func archives() []poison {
	record := entry{name: "current.json", body: "{}"}
	with := func(more ...entry) []entry { return append([]entry{record}, more...) }
	return []poison{
		{name: "parent", what: "write ../../evil", entries: with(entry{name: "../../evil", body: "x"}), says: "not a valid relative path"},
		{name: "parent-deep", what: "write a/../../../evil", entries: with(entry{name: "a/../../../evil", body: "x"}), says: "not a valid relative path"},
		{name: "absolute", what: "write /tmp/evil", entries: with(entry{name: "/tmp/evil", body: "x"}), says: "not a valid relative path"},
		{name: "backslash", what: `write ..\evil`, entries: with(entry{name: `..\evil`, body: "x"}), says: "backslash"},
		{name: "drive", what: "write C:/evil", entries: with(entry{name: "C:/evil", body: "x"}), says: "drive"},
		{name: "nul", what: "end a name early with NUL", entries: with(entry{name: "exit-code\x00.png", body: "x"}), says: "unprintable characters"},
		{name: "escape-name", what: "clear the screen by a file's name", entries: with(entry{name: "\x1b[2J\x1b]0;x\x07", body: "x"}), says: "unprintable characters"},
		{name: "command-name", what: "a workflow command as a file's name", entries: with(entry{name: "::set-output name=a::b/../x", body: "x"}), says: "not a valid relative path"},
		{name: "symlink", what: "make current.json a link to /etc/passwd", entries: []entry{{name: "current.json", body: "/etc/passwd", mode: fs.ModeSymlink | 0o777}}, says: "not a regular file"},
		{name: "symlink-folder", what: "make a folder a link, and write through it", entries: with(entry{name: "logs", body: "/tmp", mode: fs.ModeSymlink | 0o777}, entry{name: "logs/evil", body: "x"}), says: "not a regular file"},
		{name: "device", what: "make current.json a device", entries: []entry{{name: "current.json", mode: fs.ModeDevice | 0o666}}, says: "not a regular file"},
		{name: "folder", what: "make current.json a folder", entries: []entry{{name: "current.json/x", body: "x"}}, says: "is a folder"},
		{name: "twice", what: "two files of one name", entries: with(record), says: "is in it twice"},
		{name: "case-clash", what: "CURRENT.json beside current.json", entries: with(entry{name: "CURRENT.json", body: "x"}), says: "only in letter case"},
		{name: "long-name", what: "a name of 60,000 letters", entries: with(entry{name: strings.Repeat("a", 60_000), body: "x"}), says: "too long"},
		{name: "overlap", what: "two entries that share their bytes", archive: overlapping, says: "overlap"},
		{name: "zip64-lie", what: "sizes that only zip64 can have, and no zip64", archive: zip64Lie, says: "rejected"},
		{name: "no-zip", what: "no archive at all", archive: func() []byte { return []byte("PK\x03\x04 no") }, says: "cannot read its list of files"},
		{name: "bomb", what: "1 GB of zeros in 1 MB, and says so", archive: func() []byte { return bomb(1<<30, 1<<30) }, says: "claims to unpack to", big: true},
		{name: "bomb-lie", what: "1 GB of JSON in 1 MB, and says it is small", archive: func() []byte { return bomb(1<<30, 900<<10) }, says: "The results cannot be used", big: true},
		{name: "zstd-bomb", what: "a packed record that unpacks to 512 MB", archive: zstdBomb, says: "one of its tokens", big: true},
		{name: "million-entries", what: "10^6 entries in the list", archive: func() []byte { return manyEntries(1_000_000) }, says: "too long for a list", big: true},
		{name: "many-entries", what: "5,000 entries, below the list's limit", archive: func() []byte { return manyEntries(5_000) }, says: "entries"},
	}
}

// texts break whoever reads the JSON.
func texts() []poison {
	json := func(text string) map[string]string { return map[string]string{"current.json": text} }
	head := `{"schema":"pawl.run/v1","source":"measured",`
	return []poison{
		{name: "deep", what: "100,000 arrays in each other", files: json(head + `"x":` + strings.Repeat("[", 100_000)), says: "deeper"},
		{name: "nan", what: "a sample that is NaN", files: json(head + `"cases":[{"benchmark":"a","rounds":[{"samples":[NaN]}]}]}`), says: "not JSON"},
		{name: "infinite", what: "a sample of 1e999", files: json(head + `"cases":[{"benchmark":"a","rounds":[{"round":0,"samples":[1e999]}]}]}`), says: "rejected"},
		{name: "duplicate-keys", what: "say one thing first and another last", files: json(head + `"source":"imported"}`), says: "rejected"},
		{name: "long-word", what: "a text of 30 MB", archive: func() []byte {
			return packed(entry{name: "current.json", body: head + `"id":"` + strings.Repeat("letters ", 30<<17) + `"}`, store: true})
		}, says: "one of its tokens", big: true},
		{name: "objects", what: "8 million empty objects, which are large in memory", archive: func() []byte {
			return packed(entry{name: "current.json", body: head + `"warnings":[` + strings.Repeat("{},", 8<<20) + `{}]}`, store: true})
		}, says: "too many objects", big: true},
		{name: "numbers", what: "18 million numbers", archive: func() []byte {
			return packed(entry{name: "current.json", body: head + `"cases":[{"rounds":[{"samples":[` + strings.Repeat("1,", 18<<20) + `1]}]}]}`, store: true})
		}, says: "too many numbers", big: true},
		{name: "largest", what: "as much of everything as is let through", archive: largest, want: forge.Failure, says: "1 regression", big: true},
		{name: "verdict-deep", what: "100,000 objects in each other in verdict.json", bend: func(*measure.Run) {}, files: map[string]string{"verdict.json": strings.Repeat(`{"a":`, 100_000)}, says: "deeper"},
		{name: "account", what: "an account of 10^300 seconds", slower: slow, files: map[string]string{"account.json": `{"schema":"pawl.account/v1","seconds":1e300,"dollars":-1}`}, want: forge.Failure, says: "1 regression"},
		{name: "exit-code", what: "a workflow command as the exit code", files: map[string]string{"exit-code": "0\n::add-mask::a"}, says: "no exit code"},
		{name: "other-names", what: "a pull request's number in files of every name", slower: slow, files: map[string]string{
			"pr-number": "2", "pull.json": `{"pull":2,"number":2,"sha":"` + otherSHA + `"}`, "event.json": `{"pull_request":{"number":2}}`, "NR": "2",
		}, want: forge.Failure, says: "1 regression"},
	}
}

// lies are records that say what is not so.
func lies() []poison {
	return []poison{
		{name: "verdict", what: "claim an improvement over samples that are slower", slower: slow, files: map[string]string{"verdict.json": `{"verdict":"improvement","cases":[]}`, "exit-code": "0"}, want: forge.Failure, says: "reported improvement"},
		{name: "verdict-alone", what: "claim an improvement without samples", files: map[string]string{"verdict.json": `{"verdict":"improvement"}`, "exit-code": "0"}, says: "left no record"},
		{name: "gates-off", what: "gate no case", slower: slow, bend: each(func(c *measure.Case) { c.Gate = false }), want: forge.Failure, says: "1 regression"},
		{name: "better-higher", what: "say that more time is better", slower: slow, bend: each(func(c *measure.Case) { c.Better = measure.Higher }), want: forge.Failure, says: "1 regression"},
		{name: "quarantine", what: "put the slow case into quarantine itself", slower: slow, bend: each(func(c *measure.Case) { c.Quarantine = "@me, until 2099-01-01: no" }), want: forge.Failure, says: "1 regression"},
		{name: "left-out", what: "leave the slow case out", slower: slow, bend: func(r *measure.Run) {
			r.Cases = slices.DeleteFunc(r.Cases, func(c measure.Case) bool { return c.Config == "N128" })
		}, want: forge.Failure, says: "missing"},
		{name: "called-new", what: "leave the base's samples of the slow case out", slower: slow, bend: func(r *measure.Run) {
			r.Cases = slices.DeleteFunc(r.Cases, func(c measure.Case) bool { return c.Config == "N128" && c.Implementation == measure.Base })
		}, says: "no results of the base"},
		{name: "summary-only", what: "a summary in place of samples", slower: slow, bend: each(func(c *measure.Case) {
			c.Rounds, c.NoSamples, c.Summary = nil, true, &measure.Summary{Count: 9, Mean: 1}
		}), says: "No answer"},
		{name: "dropped", what: "drop every round", slower: slow, bend: func(r *measure.Run) {
			for i := range r.Rounds {
				r.Rounds[i].Dropped = "no"
			}
		}, says: "No answer"},
		{name: "accepts-itself", what: "accept its own definitions", bend: func(r *measure.Run) {
			r.Definition, r.Accepted = &measure.Definition{Changed: []string{"harness.c"}}, "trust me"
		}, says: "harness.c"},
		{name: "loose-suite", what: "bring a suite that allows 50 %, and not tell", suite: untrustedtest.Suite + loose, bend: func(r *measure.Run) { r.Suite.Digest = "" }, says: "policy"},
		{name: "loose-suite-slower", what: "the same, and be slower", suite: untrustedtest.Suite + loose, slower: slow, want: forge.Failure, says: "1 regression"},
		{name: "other-head", what: "samples of another pull request's head", bend: func(r *measure.Run) { r.Implementations[0].Commit = otherSHA }, says: "something else"},
		{name: "other-base", what: "compare with a base that is slower", bend: func(r *measure.Run) { r.Implementations[1].Commit = otherSHA }, says: "something else"},
		{name: "swapped", what: "swap the two sides", slower: slow, bend: func(r *measure.Run) {
			r.Implementations[0].Commit, r.Implementations[1].Commit = untrustedtest.Base, untrustedtest.Head
		}, says: "something else"},
		{name: "dirty", what: "measure a tree with other changes", bend: func(r *measure.Run) { r.Implementations[0].Dirty = true }, says: "something else"},
		{name: "imported", what: "say that another tool measured, so that no clock is compared", bend: func(r *measure.Run) { r.Source = measure.Imported }, says: "not measured by pawl"},
		{name: "self-timed", what: "measure with less trust than the base asks for", bend: func(r *measure.Run) { r.Trust = measure.SelfTimed }, says: "something else"},
		{name: "negative", what: "times below zero", bend: func(r *measure.Run) { r.Cases[0].Rounds[0].Samples[0] = -5 }, says: "a sample of"},
		{name: "twice-a-case", what: "a fast copy of a slow case", slower: slow, bend: func(r *measure.Run) { r.Cases = append(r.Cases, untrustedtest.Record(nil).Cases[0]) }, says: "occurs twice"},
		{name: "too-good", what: "be 100 times as fast", slower: map[string]float64{"softmax/N128": -0.99}, says: "No answer"},
	}
}

// injections are words that are markup, commands or invisible.
var injections = map[string]string{
	"html":        `<script>alert(1)</script><img src=x onerror=alert(1)></details></td>`,
	"image":       `![x](https://evil.example/x.png)`,
	"link":        `[x](https://evil.example) https://evil.example www.evil.example <https://evil.example> mailto:a@evil.example`,
	"mention":     `@everyone @octo/team cc @root`,
	"reference":   `#1 GH-1 octo/kernels#2 9999999999999999999999999999999999999999 fixes #3`,
	"table":       "| a |\n| --- |\n\n# heading\n- [x] done\n> quote\n~~~\n```\n",
	"escapes":     "\x1b[2J\x1b]8;;https://evil.example\x07x\x1b]8;;\x07\x07\x08",
	"bidi":        "\u202eevil\u2066\u200b\u200d\ufeff\u00ad\U000e0041",
	"commands":    "::set-output name=measure::true\n::add-mask::a\n##[error]x\n::stop-commands::x",
	"environment": "x\nmeasure=true\nEOF\nGITHUB_TOKEN<<EOF\n",
	"sections":    "<!-- pawl:section kernels --> <!-- /pawl:section kernels --> <!-- pawl:report -->",
	"accept":      "\n/pawl accept 1111111 because\n",
	"formula":     "$$\\def\\x{\\x}\\x$$ :tada: &lt;b&gt;",
	"long":        noise(56_000),
}

// words put an injection into every text that a record has.
func words() []poison {
	var list []poison
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range injections {
			if !yield(name) {
				return
			}
		}
	}) {
		text := injections[name]
		list = append(list, poison{
			name: "words-" + name, what: fmt.Sprintf("%.60q in every text of the record", text), slower: slow,
			want: forge.Failure, bend: func(r *measure.Run) { say(r, text) }, says: "regression",
			files: map[string]string{"verdict.json": claimed(text), "exit-code": "0"},
		}, poison{
			name: "stage-" + name, what: fmt.Sprintf("%.60q in the stage that stopped", text), want: forge.Failure, says: "cannot be measured",
			files: map[string]string{"verdict.json": stopped(text), "exit-code": "1"},
		})
	}
	return list
}
