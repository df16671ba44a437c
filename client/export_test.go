package client

import "time"

// The two ways to read a body, for tests that hold one against the other.
var (
	Quick   = quick
	Careful = careful
)

// LiveLimits sets how long telling may take, and gives back what it was.
func LiveLimits(try, goodbye time.Duration) (wasTry, wasGoodbye time.Duration) {
	wasTry, wasGoodbye = liveTry, liveGoodbye
	liveTry, liveGoodbye = try, goodbye
	return wasTry, wasGoodbye
}
