import Foundation

/// The memory of this process that is in use, in bytes; 0 where the system does not report it in Linux's way. Only of use
/// where no other test runs.
package func residentBytes() -> Int {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 } ?? 0
}
