#if canImport(Darwin)
import Foundation

/// Excludes a cache from backups, since it can be restored from the server.
func excludeFromBackup(_ path: String) {
    var url = URL(fileURLWithPath: path, isDirectory: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? url.setResourceValues(values)
}
#else
func excludeFromBackup(_ path: String) {}
#endif
