package store

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/measure"
)

// row is a report prepared for the database.
type row struct {
	project  int64
	in       Incoming
	report   *client.Report
	key      []byte
	lane     int16
	trust    pointcodec.Flags
	received time.Time

	health, sender []byte
	blobs          struct {
		digests      [][]byte
		kinds, names []string
	}
	commits reportedCommits

	// Set by prepare.
	checked  bool // the report is new, and its blobs exist
	at       time.Time
	placed   bool
	testbeds map[measure.Timer]int64
	testbed  int64
	ids      []int64 // series ids, one per point
	moved    []int   // points whose series need a new description
	points   columns
}

// columns holds the points as arrays for the database, sorted by series, so that neighbors in the
// report become neighbors in the index.
type columns struct {
	series                             []int64
	value, low, high, spread, baseline []float32
	rounds                             []int32
	flags                              []int16
}

// newRow validates what later steps cannot correct.
func (s *Store) newRow(project int64, in Incoming) (*row, error) {
	r := &row{project: project, in: in, report: in.Report, received: s.db.Now().UTC().Truncate(time.Microsecond)}
	var err error
	if r.lane, err = laneNumber(in.Lane); err != nil {
		return nil, &pg.InvalidError{What: err.Error()}
	}
	if r.trust, err = pointcodec.Pack(in.Report.Trust, "", false); err != nil {
		return nil, &pg.InvalidError{What: err.Error()}
	}
	if r.key, err = hex.DecodeString(in.Key); err != nil || len(r.key) != 32 {
		return nil, &pg.InvalidError{What: fmt.Sprintf("the key %.80q must be 64 hex digits", in.Key)}
	}
	if r.health, err = json.Marshal(in.Report.Health); err != nil {
		return nil, &pg.InvalidError{What: "the health of the device: " + err.Error()}
	}
	sender := in.Sender
	if sender == nil {
		sender = map[string]string{}
	}
	if r.sender, err = json.Marshal(sender); err != nil {
		return nil, err
	}
	if len(in.Report.Points) > client.MaxPoints || len(in.Report.Blobs) > client.MaxBlobs || len(in.Report.History) > client.MaxHistory {
		return nil, &pg.InvalidError{What: "the report has too many points, blobs or history entries"}
	}
	for _, b := range in.Report.Blobs {
		sum, err := digestOf(b.Digest)
		if err != nil {
			return nil, err
		}
		r.blobs.digests = append(r.blobs.digests, sum)
		r.blobs.kinds, r.blobs.names = append(r.blobs.kinds, string(b.Kind)), append(r.blobs.names, b.Name)
	}
	for n := range in.Report.Points {
		if err := fits(&in.Report.Points[n]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// fits refuses numbers that overflow a float32 or are NaN, and invalid counts of rounds.
func fits(p *client.Point) error {
	for _, f := range [...]float64{p.Value, p.Low, p.High, p.Spread, p.Baseline} {
		if math.IsNaN(f) || math.Abs(f) > math.MaxFloat32 {
			return &pg.InvalidError{What: fmt.Sprintf("%s: %g cannot be stored", p.CaseKey, f)}
		}
	}
	if p.Rounds < 0 || p.Rounds > math.MaxInt32 {
		return &pg.InvalidError{What: fmt.Sprintf("%s: %d rounds", p.CaseKey, p.Rounds)}
	}
	return nil
}

// arrange fills the columns from the points.
func (r *row) arrange() error {
	order := make([]int, len(r.ids))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.ids[a], r.ids[b]) })
	n := len(order)
	floats := make([]float32, 5*n)
	c := columns{
		series: make([]int64, n), rounds: make([]int32, n), flags: make([]int16, n),
		value: floats[:n], low: floats[n : 2*n], high: floats[2*n : 3*n], spread: floats[3*n : 4*n], baseline: floats[4*n:],
	}
	for to, from := range order {
		p := &r.report.Points[from]
		if to > 0 && c.series[to-1] == r.ids[from] {
			return &pg.InvalidError{What: fmt.Sprintf("%s is in the report twice", p.CaseKey)}
		}
		flags, err := pointcodec.Pack(r.report.Trust, p.Verdict, p.Moved)
		if err != nil {
			return &pg.InvalidError{What: fmt.Sprintf("%s: %v", p.CaseKey, err)}
		}
		c.series[to], c.rounds[to], c.flags[to] = r.ids[from], int32(p.Rounds), int16(flags)
		c.value[to], c.low[to], c.high[to] = float32(p.Value), float32(p.Low), float32(p.High)
		c.spread[to], c.baseline[to] = float32(p.Spread), float32(p.Baseline)
	}
	r.points = c
	return nil
}

// write adds the statement that inserts the report. It sets the number of the report, or 0 if its key already
// exists, and the digests of missing blobs.
func (r *row) write(b *pgx.Batch, id *int64, lacks *[]string) {
	b.Queue(writeReportSQL,
		r.project, r.key, r.in.Body[:], r.report.Run, r.report.Suite, r.report.Measured, r.received, r.at, r.placed,
		r.report.Commit.SHA, r.report.Branch, r.report.Pull, r.lane, int16(r.trust), r.report.Pawl, r.testbed, r.health,
		string(r.report.Verdict), r.report.Sentence, len(r.points.series), pointcodec.PackIDs(r.points.series), r.sender,
		r.points.series, r.points.value, r.points.low, r.points.high, r.points.spread, r.points.baseline, r.points.rounds, r.points.flags,
		r.blobs.digests, r.blobs.kinds, r.blobs.names,
		r.commits.shas, r.commits.parents, r.commits.times, r.commits.authors, r.commits.titles,
	).QueryRow(func(row pgx.Row) error {
		err := row.Scan(id, lacks)
		failpoint.At("ingest.written")
		return err
	})
}

// writeReportSQL is one statement. It writes nothing if the key exists, a blob is missing, or the
// project is being deleted. It locks the rows of blobs, so that none is collected as an orphan
// meanwhile. The columns are unnested in the select list. In the from clause, each would first be
// written to a tuple store, which was a third of the total cost. Every additional statement costs
// as much as ten points.
const writeReportSQL = `
with held as (
  select digest from pawl.blob where project_id = $1 and digest = any($31::bytea[]) order by digest for key share
), lacks as (
  select d from unnest($31::bytea[]) d where not exists (select from held where digest = d)
), receipt as (
  insert into pawl.receipt (project_id, key, body, report_id)
  select $1, $2, $3, nextval('pawl.report_id_seq')
  where not exists (select from lacks) and exists (select from pawl.project where id = $1 and deleting is null)
  on conflict do nothing
  returning report_id as id
), report as (
  insert into pawl.report (project_id, id, run, suite, measured, received, at, placed, sha, branch, pull, lane, trust, pawl, testbed_id,
    health, verdict, sentence, points, series, sender) overriding system value
  select $1, id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22 from receipt
), points as (
  insert into pawl.point (project_id, series_id, at, report_id, value, low, high, spread, baseline, rounds, flags)
  select $1, unnest($23::bigint[]), $8, id, unnest($24::real[]), unnest($25::real[]), unnest($26::real[]), unnest($27::real[]),
    unnest($28::real[]), unnest($29::integer[]), unnest($30::smallint[])
  from receipt
), dirty as (
  insert into pawl.dirty (project_id, report_id, since) select $1, id, $7 from receipt
), blobs as (
  insert into pawl.report_blob (project_id, report_id, ordinal, digest, kind, name)
  select $1, id, ordinal, digest, kind, name
  from receipt, unnest($31::bytea[], $32::text[], $33::text[]) with ordinality as t(digest, kind, name, ordinal)
), told as (` + insertCommits + `
)
select coalesce((select id from receipt), 0), array(select encode(d, 'hex') from lacks)`
