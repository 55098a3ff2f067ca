import Foundation

/// The resident memory of this process in bytes, or 0 if there's no `/proc/self/status`. Only meaningful while no other
/// test runs.
package func residentBytes() -> Int {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 } ?? 0
}
