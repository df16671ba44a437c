package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Read gives all rows of a file that a Writer wrote; for small ones.
func Read(r io.ReaderAt, size int64) ([]Row, error) {
	rows, err := parquet.Read[Row](r, size)
	if err != nil {
		return nil, fmt.Errorf("reading points from Parquet: %w", err)
	}
	return rows, nil
}
