package server

import (
	"container/list"
	"html/template"
	"sync"
)

// Limits of the cache of rebuilt reports.
const (
	judgedBytes   = 64 << 20
	judgedLargest = 8 << 20
)

// reportCache caches the reports of runs that people view. Unpacking and judging a record again takes seconds,
// and gives the same result as long as the files are the same.
type reportCache struct {
	mu    sync.Mutex
	bytes int
	byKey map[string]*list.Element
	order list.List // of judgedReport, most recent first
}

type judgedReport struct {
	key  string
	text template.HTML
}

func newJudged() *reportCache { return &reportCache{byKey: map[string]*list.Element{}} }

func (j *reportCache) get(key string) (template.HTML, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.byKey[key]
	if !ok {
		return "", false
	}
	j.order.MoveToFront(e)
	r, _ := e.Value.(judgedReport) // the list holds only judgedReport
	return r.text, true
}

func (j *reportCache) put(key string, text template.HTML) {
	if len(text) > judgedLargest {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.byKey[key]; ok {
		return
	}
	j.byKey[key] = j.order.PushFront(judgedReport{key, text})
	for j.bytes += len(text); j.bytes > judgedBytes; {
		last := j.order.Back()
		r, _ := j.order.Remove(last).(judgedReport)
		delete(j.byKey, r.key)
		j.bytes -= len(r.text)
	}
}
