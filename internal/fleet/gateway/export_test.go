package gateway

// MaxFiles is the limit of files at a time.
const MaxFiles = maxFiles
