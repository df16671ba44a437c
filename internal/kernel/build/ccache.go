package build

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
)

// Ccache holds the statistics of a compiler cache during a build.
type Ccache struct {
	Hits     int `json:"hits"`
	Misses   int `json:"misses"`
	Uncached int `json:"uncached,omitempty"` // calls it does not cache: linking, or flags it does not know
}

// statsLog is a file to which ccache writes the result of each call. Unlike ccache's own totals,
// it excludes other builds that run at the same time.
type statsLog struct{ folder *scratch.Folder }

func newStatsLog(r Recipe) statsLog {
	if lookTool(r.Env, "ccache") == "" || lookEnv(r.Env, "CCACHE_STATSLOG") != "" {
		return statsLog{}
	}
	folder, err := scratch.New("", "ccache")
	if err != nil {
		return statsLog{} // the build works without the statistics
	}
	return statsLog{folder}
}

func (l statsLog) path() string { return filepath.Join(l.folder.Path, "log") }

func (l statsLog) env() []string {
	if l.folder == nil {
		return nil
	}
	return []string{"CCACHE_STATSLOG=" + l.path()}
}

func (l statsLog) read() Ccache {
	if l.folder == nil {
		return Ccache{}
	}
	defer l.folder.Remove()
	b, err := os.ReadFile(l.path())
	if err != nil {
		return Ccache{}
	}
	return countCcache(string(b))
}

// countCcache parses a statistics log: a comment names the source of a call, the lines after it
// the result.
func countCcache(text string) Ccache {
	var c Ccache
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case "direct_cache_hit", "preprocessed_cache_hit":
			c.Hits++
		case "cache_miss":
			c.Misses++
		case "called_for_link", "called_for_preprocessing", "unsupported_compiler_option", "multiple_source_files", "no_input_file", "output_to_stdout", "unsupported_source_language", "compile_failed":
			c.Uncached++
		}
	}
	return c
}
