package store

import (
	"sync"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/rowcache"
	"github.com/goatnote-inc/pawl/measure"
)

// knownRows caches rows, so that a report of known series needs no lookups.
type knownRows struct {
	series   *rowcache.Cache[seriesKey, seriesRow]
	testbeds *rowcache.Cache[testbedKey, int64]
	commits  *rowcache.Cache[commitKey, int16] // commits with a time, and the lane that reported it
	settled  *rowcache.Cache[commitKey, client.Commit]

	// naming makes writers of one project take turns when they add series: of many reports of
	// a new suite, one adds the series and the others find them.
	naming [64]sync.Mutex
}

type seriesKey struct {
	project, testbed int64
	lane             int16
	suite            string
	measure.CaseKey
}

type seriesRow struct {
	id           int64
	unit, better string
	path, owners string // owners joined into one text
}

type testbedKey struct {
	project int64
	key     string
}

type commitKey struct {
	project int64
	sha     string
}

func newKnown() *knownRows {
	return &knownRows{
		series:   rowcache.New[seriesKey, seriesRow](400_000),
		testbeds: rowcache.New[testbedKey, int64](20_000),
		commits:  rowcache.New[commitKey, int16](400_000),
		settled:  rowcache.New[commitKey, client.Commit](100_000),
	}
}
