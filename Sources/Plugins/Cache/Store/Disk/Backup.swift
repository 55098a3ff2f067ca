#if canImport(Darwin)
import Foundation

/// Excludes the cache from backups, because the server can restore it.
func excludeFromBackup(_ path: String) {
    var url = URL(fileURLWithPath: path, isDirectory: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? url.setResourceValues(values)
}
#else
func excludeFromBackup(_ path: String) {}
#endif
