package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Migration holds what a baseline.json does not contain.
type Migration struct {
	Benchmark string          // the file's configs are cases of this benchmark
	Testbed   measure.Testbed // where the file's numbers were measured
	Timer     measure.Timer
	Now       time.Time
	Actor     string
	// Resolve returns the full hash of a commit as spelled in the file. An unknown commit is left
	// out, and the reason of the entry says so.
	Resolve func(commit string) (string, error)
}

// bestEver is the file that performance_ratchet.py keeps: the best time ever
// seen of each config, with its commit.
type bestEver struct {
	Configs map[string]struct {
		Median    float64 `json:"median_ms"`
		Commit    string  `json:"git_commit"`
		Timestamp string  `json:"timestamp"`
	} `json:"configs"`
}

// Limits of a file to migrate.
const (
	maxMigrated     = 4 << 20
	maxMigratedCase = 10_000
)

// Migrate converts a baseline.json into entries for an empty ledger, by config. One number is one
// session, and fewer than five sessions decide nothing. The luckiest run only points to a commit
// worth measuring; it is no limit for later changes.
func Migrate(r io.Reader, m Migration) ([]ratchet.Entry, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxMigrated+1))
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if len(data) > maxMigrated {
		return nil, fmt.Errorf("migrate: more than %d bytes: this is not a baseline.json", maxMigrated)
	}
	var file bestEver
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("migrate: %w: expected {\"configs\": {NAME: {\"median_ms\": 0.32, \"git_commit\": ...}}}", err)
	}
	if len(file.Configs) == 0 || len(file.Configs) > maxMigratedCase {
		return nil, fmt.Errorf("migrate: %d configs under \"configs\" (must be 1 to %d)", len(file.Configs), maxMigratedCase)
	}
	if m.Benchmark == "" || m.Resolve == nil {
		return nil, errors.New("migrate: the file names neither the benchmark of its configs nor the repository of its commits: both are required")
	}
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	var entries []ratchet.Entry
	for _, name := range slices.Sorted(maps.Keys(file.Configs)) {
		c := file.Configs[name]
		if !(c.Median > 0 && c.Median < 1e12) {
			return nil, fmt.Errorf("migrate: config %s: median_ms is %v, must be above 0", name, c.Median)
		}
		e := ratchet.Entry{
			Kind: ratchet.KindMigrated, Time: m.Now, Actor: m.Actor,
			Case:    measure.CaseKey{Benchmark: m.Benchmark, Config: name}.Name(),
			Testbed: ratchet.NewTestbed(m.Testbed, m.Timer),
			Session: &ratchet.Session{Run: ratchet.RunRef{Digest: digest}, Unit: "ns", Rounds: []float64{1e6 * c.Median}},
			Reason:  "best time in the migrated file",
		}
		if c.Timestamp != "" {
			e.Reason += fmt.Sprintf(", dated %.40q", c.Timestamp)
		}
		if c.Commit != "" {
			if e.Commit, err = m.Resolve(c.Commit); err != nil {
				e.Commit = ""
				e.Reason += fmt.Sprintf("; its commit %.80q could not be resolved", c.Commit)
			}
		}
		entries = append(entries, e)
	}
	if _, _, err := (ratchet.Head{}).Seal(entries); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return entries, nil
}
