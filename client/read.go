package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Filter restricts a list. Zero fields do not restrict it. The server rejects fields that do not apply to a
// list.
type Filter struct {
	Suite   string
	Testbed int64
	Lane    Lane
	Text    string     // series: words in the name
	Commit  string     // runs
	State   EventState // events
	Series  int64      // events
	Group   int64      // events
	Since   time.Time
}

func (f Filter) values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	number := func(name string, value int64) {
		if value != 0 {
			v.Set(name, strconv.FormatInt(value, 10))
		}
	}
	set("suite", f.Suite)
	set("lane", string(f.Lane))
	set("text", f.Text)
	set("commit", f.Commit)
	set("state", string(f.State))
	number("testbed", f.Testbed)
	number("series", f.Series)
	number("group", f.Group)
	if !f.Since.IsZero() {
		v.Set("since", f.Since.UTC().Format(time.RFC3339))
	}
	return v
}

// page is one page of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// list requests one page after another as needed. It ends at the first error.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			var p page[T]
			if err := c.get(ctx, path, query, &p); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.Next == "" || len(p.Items) == 0 {
				return
			}
			query.Set("cursor", p.Next)
		}
	}
}

func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	return c.send(ctx, request{method: http.MethodGet, path: path, query: query}, into)
}

// About returns the project.
func (c *Client) About(ctx context.Context) (Project, error) {
	var p Project
	err := c.get(ctx, "", nil, &p)
	return p, err
}

// Series lists series, ordered by ID.
func (c *Client) Series(ctx context.Context, f Filter) iter.Seq2[Series, error] {
	return list[Series](ctx, c, "series", f.values())
}

// Range selects points of a series. The zero value means the last 1,000.
type Range struct {
	From, To time.Time
	Last     int
	Buckets  int // downsample to this many buckets, with the extremes of each
}

// Points returns the points of a series, in the order of their commits.
func (c *Client) Points(ctx context.Context, series int64, r Range) ([]StoredPoint, error) {
	v := url.Values{}
	for name, t := range map[string]time.Time{"from": r.From, "to": r.To} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	for name, n := range map[string]int{"last": r.Last, "buckets": r.Buckets} {
		if n != 0 {
			v.Set(name, strconv.Itoa(n))
		}
	}
	var p page[StoredPoint]
	err := c.get(ctx, "series/"+strconv.FormatInt(series, 10)+"/points", v, &p)
	return p.Items, err
}

// Runs lists runs, most recently received first.
func (c *Client) Runs(ctx context.Context, f Filter) iter.Seq2[Run, error] {
	return list[Run](ctx, c, "runs", f.values())
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	var r Run
	err := c.get(ctx, "runs/"+strconv.FormatInt(id, 10), nil, &r)
	return r, err
}

// Testbeds lists the testbeds of the project.
func (c *Client) Testbeds(ctx context.Context) iter.Seq2[Testbed, error] {
	return list[Testbed](ctx, c, "testbeds", url.Values{})
}

// Events lists lasting changes, most recently found first.
func (c *Client) Events(ctx context.Context, f Filter) iter.Seq2[Event, error] {
	return list[Event](ctx, c, "events", f.values())
}

// Groups lists groups of events, newest first.
func (c *Client) Groups(ctx context.Context, f Filter) iter.Seq2[Group, error] {
	return list[Group](ctx, c, "groups", f.values())
}
