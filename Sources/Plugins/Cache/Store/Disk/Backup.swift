#if canImport(Darwin)
import Foundation

/// A cache can be made again, so it has no place in a backup.
func excludeFromBackup(_ path: String) {
    var url = URL(fileURLWithPath: path, isDirectory: true)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try? url.setResourceValues(values)
}
#else
func excludeFromBackup(_ path: String) {}
#endif
