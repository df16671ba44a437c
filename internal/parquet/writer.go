// Package parquet knows how points look as columns: the Parquet file that analysts load
// into whatever they work with. Every row stands alone: what the series is called is
// repeated in it, and costs next to nothing because columns are packed.
//
// It writes as points come and holds a bounded number of them. It must not know where
// points are kept, nor who may have them.
package parquet

import (
	"cmp"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
)

// Schema is what the file says of its columns, under the key "schema". Columns are
// added at the end; one that changes its meaning makes a new schema.
const Schema = "pawl.points/v1"

// Row is one point, with what its series is. Numbers are those that are kept, with 24
// bits. What is not known is null.
type Row struct {
	Series         int64    `parquet:"series"`
	Suite          string   `parquet:"suite,dict"`
	Name           string   `parquet:"name,dict"` // benchmark, config, cache and metric as people write them
	Benchmark      string   `parquet:"benchmark,dict"`
	Config         string   `parquet:"config,dict"`
	Cache          string   `parquet:"cache,dict"` // hot or cold
	Metric         *string  `parquet:"metric,optional,dict"`
	Implementation string   `parquet:"implementation,dict"`
	Testbed        int64    `parquet:"testbed"`
	Lane           string   `parquet:"lane,dict"`
	Unit           string   `parquet:"unit,dict"`
	Better         string   `parquet:"better,dict"`
	At             int64    `parquet:"at,timestamp(microsecond:utc)"`
	Report         int64    `parquet:"report"`
	Commit         *string  `parquet:"commit,optional,dict"`
	Value          float32  `parquet:"value"`
	Low            float32  `parquet:"low"`
	High           float32  `parquet:"high"`
	Spread         float32  `parquet:"spread"`
	Rounds         int32    `parquet:"rounds"`
	Baseline       *float32 `parquet:"baseline,optional"`
	Moved          bool     `parquet:"moved"` // the baseline came here
	Trust          string   `parquet:"trust,dict"`
	Verdict        *string  `parquet:"verdict,optional,dict"`
}

// groupRows is how many rows are held, packed, before they are written. Fewer would make
// the directory at the end of a file with a billion points heavy, more the server.
const groupRows = 1 << 17

// Writer writes one file. Without Close it has no directory, and no reader takes it for
// whole.
type Writer struct {
	out  *parquet.GenericWriter[Row]
	rows []Row
}

// NewWriter begins a file of a project's points.
func NewWriter(w io.Writer, project string) *Writer {
	return &Writer{out: parquet.NewGenericWriter[Row](w,
		parquet.MaxRowsPerRowGroup(groupRows),
		parquet.Compression(&zstd.Codec{}),
		parquet.KeyValueMetadata("schema", Schema),
		parquet.KeyValueMetadata("project", project),
		parquet.CreatedBy("pawl", Schema, ""),
	)}
}

// Write adds points of a series.
func (w *Writer) Write(s client.Series, points []client.Kept) error {
	w.rows = w.rows[:0]
	row := rowOf(s)
	for i := range points {
		w.rows = append(w.rows, row.with(&points[i]))
	}
	if _, err := w.out.Write(w.rows); err != nil {
		return fmt.Errorf("writing %d points of series %d as Parquet: %w", len(points), s.ID, err)
	}
	return nil
}

// Close writes what is held, and the directory.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("ending a Parquet file: %w", err)
	}
	return nil
}

// rowOf is what all points of a series have in common.
func rowOf(s client.Series) Row {
	return Row{
		Series: s.ID, Suite: s.Suite, Name: s.Name, Benchmark: s.Benchmark, Config: s.Config, Cache: string(cmp.Or(s.Cache, measure.Hot)), Metric: known(s.Metric),
		Implementation: s.Implementation, Testbed: s.Testbed, Lane: string(s.Lane), Unit: s.Unit, Better: string(cmp.Or(s.Better, measure.Lower)),
	}
}

func (r Row) with(p *client.Kept) Row {
	r.At, r.Report, r.Commit = p.At.UnixMicro(), p.Report, known(p.Commit)
	r.Value, r.Low, r.High, r.Spread, r.Rounds = p.Value, p.Low, p.High, p.Spread, int32(min(p.Rounds, 1<<31-1))
	r.Baseline, r.Moved, r.Trust, r.Verdict = known(p.Baseline), p.Moved, string(p.Trust), known(p.Verdict)
	return r
}

// known is null for what is left empty.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
