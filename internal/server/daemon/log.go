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

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func parseLevel(text string) (slog.Level, error) {
	level, ok := levels[text]
	if !ok {
		return 0, fmt.Errorf("unknown log level %q (known: debug, info, warn, error)", text)
	}
	return level, nil
}
