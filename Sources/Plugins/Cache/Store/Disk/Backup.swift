#if canImport(Darwin)
import Foundation

/// Excludes a directory from backups, because the server can send cached responses again.
func excludeFromBackup(_ path: String) {
    var url = URL(fileURLWithPath: path, isDirectory: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? url.setResourceValues(values)
}
#else
func excludeFromBackup(_ path: String) {}
#endif
