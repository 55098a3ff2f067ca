import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Handles SIGINT, SIGTERM and SIGHUP, so they don't kill the process.
final class Signals {
    private let sources: [any DispatchSourceSignal]
    private let numbers: [Int32]

    /// Calls a closure for each signal. If the parent ignores SIGHUP, as `nohup` does, SIGHUP stays ignored.
    init(_ handle: @escaping @Sendable (_ name: String) -> Void) {
        let signals = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")].filter {
            $0.0 != SIGHUP || !Self.isIgnored($0.0)
        }
        sources = signals.map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { handle(name) }
            source.resume()
            return source
        }
        numbers = signals.map(\.0)
    }

    /// Restores the default signal handling.
    func stop() {
        sources.forEach { $0.cancel() }
        numbers.forEach { signal($0, SIG_DFL) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        signal(number, before)
        return unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
