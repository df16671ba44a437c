package client

import "time"

// The two ways to read a body, for tests that hold one against the other.
var (
	Quick   = decodeFast
	Careful = decodeStrict
)

// LiveLimits sets how long telling may take, and gives back what it was.
func LiveLimits(try, goodbye time.Duration) (wasTry, wasGoodbye time.Duration) {
	wasTry, wasGoodbye = liveRequestTimeout, liveFlushTimeout
	liveRequestTimeout, liveFlushTimeout = try, goodbye
	return wasTry, wasGoodbye
}
