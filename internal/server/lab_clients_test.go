package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// labOrder says what the clients of a lab do, and for how long.
type labOrder struct {
	What     string // copy, report
	URL, Key string
	Database string
	Template []byte // the body of report 0
	First    int    // the number to begin with
	Span     time.Duration
	Clients  int // 32 if zero
}

// labDone is what came of it.
type labDone struct {
	Reports  int
	Rate     float64 // points a second
	CPU      time.Duration
	P50, P99 float64 // milliseconds
}

// labAt is within the two months before now: no report may be from the future.
func labAt(n int) time.Time {
	return began.Truncate(24*time.Hour).AddDate(0, 0, -60).Add(time.Duration(n%400_000) * 10 * time.Second)
}

func labSuite(n int) string { return fmt.Sprintf("suite%02d", n%labSuites) }

// runLabClients is the process of the clients. It reads an order and writes what came of it.
func runLabClients(in io.Reader, out io.Writer) error {
	var o labOrder
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	ctx := context.Background()
	var bare *pgxpool.Pool
	if o.What == "copy" {
		var err error
		if bare, err = labPool(ctx, o.Database); err != nil {
			return err
		}
		defer bare.Close()
	}
	var next atomic.Int64
	next.Store(int64(o.First))
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var all sync.WaitGroup
	own, start := ownCPU(), time.Now()
	for range cmp.Or(o.Clients, labClients) {
		all.Go(func() {
			one := func(n int) error { return labCopy(ctx, bare, n) }
			var err error
			if o.What == "report" {
				one, err = o.sender(ctx)
			}
			var mine []time.Duration
			for err == nil && time.Since(start) < o.Span {
				begun := time.Now()
				if err = one(int(next.Add(1) - 1)); err == nil {
					mine = append(mine, time.Since(begun))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			if failed == nil {
				failed = err
			}
		})
	}
	all.Wait()
	if failed != nil || len(took) == 0 {
		return fmt.Errorf("after %d: %w", len(took), failed)
	}
	span := time.Since(start)
	slices.Sort(took)
	ms := func(share float64) float64 {
		return float64(took[int(float64(len(took)-1)*share)].Microseconds()) / 1000
	}
	return json.NewEncoder(out).Encode(labDone{len(took), float64(len(took)*labPoints) / span.Seconds(), ownCPU() - own, ms(0.5), ms(0.99)})
}

// sender is one client with one connection. Its request is made once; of every report it
// changes the run, the commit, its time and the suite. What a client costs is not asked
// here, and http.Client would be a third of it.
func (o *labOrder) sender(ctx context.Context) (func(n int) error, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		u.Path, u.Host, o.Key, len(o.Template), o.Template)
	stamp := func(n int) [4]string {
		return [4]string{runName(n), sha(n + 1), labAt(n).Format(time.RFC3339), labSuite(n)}
	}
	var places [4][]byte
	for i, text := range stamp(0) {
		at := bytes.Index(request, []byte(`"`+text+`"`)) + 1
		places[i] = request[at : at+len(text)]
	}
	return func(n int) error {
		for i, text := range stamp(n) {
			copy(places[i], text)
		}
		if _, err := conn.Write(request); err != nil {
			return err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusCreated {
			err = fmt.Errorf("%d %s", resp.StatusCode, text)
		}
		return err
	}, nil
}

func labCopy(ctx context.Context, bare *pgxpool.Pool, n int) error {
	_, err := bare.CopyFrom(ctx, pgx.Identifier{"bare"}, []string{"project_id", "series_id", "at", "report_id", "value", "low", "high", "spread", "baseline", "rounds", "flags"},
		pgx.CopyFromSlice(labPoints, func(i int) ([]any, error) {
			v := float32(1000 + i)
			return []any{int64(1), int64((n%labSuites)*labPoints + i), labAt(n), int64(n), v, v * 0.99, v * 1.01, float32(0.01), float32(1000), int32(8), int16(8)}, nil
		}))
	return err
}

// asLabClients tells whether this process is the clients of a lab, having been them.
func asLabClients() bool {
	if os.Getenv("PAWL_LAB_CLIENTS") == "" {
		return false
	}
	if err := runLabClients(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}
