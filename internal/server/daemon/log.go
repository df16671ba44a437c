package daemon

import (
	"fmt"
	"io"
	"log/slog"
)

// newLog returns a logger that writes one JSON object per line. Its level can be changed at run time.
func newLog(w io.Writer, level *slog.LevelVar) *slog.Logger {
	return slog.New(tracedLog{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

func parseLevel(text string) (slog.Level, error) {
	switch text {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("unknown log level %q (known: debug, info, warn, error)", text)
}
