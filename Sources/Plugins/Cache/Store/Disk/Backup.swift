#if canImport(Darwin)
import Foundation

/// Cached responses don't need a backup, because the server can send them again.
func excludeFromBackup(_ path: String) {
    var url = URL(fileURLWithPath: path, isDirectory: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? url.setResourceValues(values)
}
#else
func excludeFromBackup(_ path: String) {}
#endif
