// Package parquet writes points as a Parquet file for analysis tools. Every row is self-contained: it
// repeats the properties of its series, which costs next to nothing because columns are compressed.
//
// It writes points as they arrive and holds a bounded number of them. It must not know where points are
// kept, nor any access rights.
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

// Schema identifies the columns in the file's metadata, under the key "schema". New columns are added at
// the end. A column that changes its meaning requires a new schema.
const Schema = "pawl.points/v1"

// Row is one point with the properties of its series. Numbers have the stored precision of 24 bits.
// Unknown values are null.
type Row struct {
	Series         int64    `parquet:"series"`
	Suite          string   `parquet:"suite,dict"`
	Name           string   `parquet:"name,dict"` // benchmark, config, cache and metric in readable form
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
	Moved          bool     `parquet:"moved"` // the baseline moved to this point
	Trust          string   `parquet:"trust,dict"`
	Verdict        *string  `parquet:"verdict,optional,dict"`
}

// groupRows is the number of rows held, compressed, before they are written. A smaller number would
// enlarge the footer of a file with a billion points; a larger one would use more memory on the server.
const groupRows = 1 << 17

// Writer writes one file. Without Close the file has no footer, and no reader accepts it.
type Writer struct {
	out  *parquet.GenericWriter[Row]
	rows []Row
}

// NewWriter starts a file of a project's points.
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
func (w *Writer) Write(s client.Series, points []client.StoredPoint) error {
	w.rows = w.rows[:0]
	row := rowOf(s)
	for i := range points {
		w.rows = append(w.rows, row.with(&points[i]))
	}
	if _, err := w.out.Write(w.rows); err != nil {
		return fmt.Errorf("cannot write %d points of series %d as Parquet: %w", len(points), s.ID, err)
	}
	return nil
}

// Close writes the rows still held, and the footer.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("cannot finish a Parquet file: %w", err)
	}
	return nil
}

// rowOf returns the columns that all points of a series share.
func rowOf(s client.Series) Row {
	return Row{
		Series: s.ID, Suite: s.Suite, Name: s.Name, Benchmark: s.Benchmark, Config: s.Config, Cache: string(cmp.Or(s.Cache, measure.Hot)), Metric: known(s.Metric),
		Implementation: s.Implementation, Testbed: s.Testbed, Lane: string(s.Lane), Unit: s.Unit, Better: string(cmp.Or(s.Better, measure.Lower)),
	}
}

func (r Row) with(p *client.StoredPoint) Row {
	r.At, r.Report, r.Commit = p.At.UnixMicro(), p.Report, known(p.Commit)
	r.Value, r.Low, r.High, r.Spread, r.Rounds = p.Value, p.Low, p.High, p.Spread, int32(min(p.Rounds, 1<<31-1))
	r.Baseline, r.Moved, r.Trust, r.Verdict = known(p.Baseline), p.Moved, string(p.Trust), known(p.Verdict)
	return r
}

// known returns nil for a zero value, which becomes null.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
