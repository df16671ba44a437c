package keep

// StampOf is Stamp of a folder that changed then, looked at now.
var StampOf = stampOf
