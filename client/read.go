package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Filter narrows a list. What is zero narrows nothing; what a list does not know the
// server refuses.
type Filter struct {
	Suite   string
	Testbed int64
	Lane    Lane
	Text    string     // of series: words in the name
	Commit  string     // of runs
	State   EventState // of events
	Series  int64      // of events
	Group   int64      // of events
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

// page is a part of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// list asks for page after page as they are wanted. The first error ends it.
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

// About is the project itself.
func (c *Client) About(ctx context.Context) (Project, error) {
	var p Project
	err := c.get(ctx, "", nil, &p)
	return p, err
}

// Series lists series, by their numbers.
func (c *Client) Series(ctx context.Context, f Filter) iter.Seq2[Series, error] {
	return list[Series](ctx, c, "series", f.values())
}

// Range is which points of a series are asked for. Zero means the last 1,000.
type Range struct {
	From, To time.Time
	Last     int
	Buckets  int // downsampled to so many, with the extremes of each
}

// Points are those of a series, in the order of their commits.
func (c *Client) Points(ctx context.Context, series int64, r Range) ([]Kept, error) {
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
	var p page[Kept]
	err := c.get(ctx, "series/"+strconv.FormatInt(series, 10)+"/points", v, &p)
	return p.Items, err
}

// Runs lists runs, those received last first.
func (c *Client) Runs(ctx context.Context, f Filter) iter.Seq2[Run, error] {
	return list[Run](ctx, c, "runs", f.values())
}

// Run is one run.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	var r Run
	err := c.get(ctx, "runs/"+strconv.FormatInt(id, 10), nil, &r)
	return r, err
}

// Testbeds are those of the project.
func (c *Client) Testbeds(ctx context.Context) iter.Seq2[Testbed, error] {
	return list[Testbed](ctx, c, "testbeds", url.Values{})
}

// Events lists changes that lasted, those found last first.
func (c *Client) Events(ctx context.Context, f Filter) iter.Seq2[Event, error] {
	return list[Event](ctx, c, "events", f.values())
}

// Groups lists what happened where, the newest first.
func (c *Client) Groups(ctx context.Context, f Filter) iter.Seq2[Group, error] {
	return list[Group](ctx, c, "groups", f.values())
}
