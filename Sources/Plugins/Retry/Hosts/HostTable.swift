import ErrandEssentials
import ErrandHTTPSyntax
import Synchronization

/// What is known of each host: one value for each name and port, at most `capacity` of them.
final class HostTable<Value: AnyObject & Sendable>: Sendable {
    private struct State {
        /// Scheme and authority as a URL spells them, and the value: most requests go where the last one went.
        var last: (spelling: String, value: Value)?
        var values: [String: Value] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let make: @Sendable (_ host: String) -> Value
    private let isIdle: @Sendable (Value) -> Bool

    init(
        capacity: Int = 1_000, isIdle: @escaping @Sendable (Value) -> Bool,
        make: @escaping @Sendable (_ host: String) -> Value
    ) {
        (self.capacity, self.isIdle, self.make) = (capacity, isIdle, make)
    }

    func value(for url: URL) -> Value {
        let text = url.absoluteString
        return state.withLock { state in
            if let last = state.last, Self.begins(text, with: last.spelling) { return last.value }
            let host = Self.host(of: url)
            let value = state.values[host] ?? add(host, &state)
            state.last = (Self.spelling(of: text), value)
            return value
        }
    }

    var all: [Value] { state.withLock { Array($0.values.values) } }

    private func add(_ host: String, _ state: inout State) -> Value {
        if state.values.count >= capacity {
            state.values = state.values.filter { !isIdle($0.value) }
            // Nothing is idle: one goes, rather than that the table grows.
            if state.values.count >= capacity, let any = state.values.keys.first { state.values[any] = nil }
        }
        let value = make(host)
        state.values[host] = value
        return value
    }

    /// "api.example.com:443"
    private static func host(of url: URL) -> String {
        let origin = URLSyntax.origin(of: url)
        return origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
    }

    /// "HTTPS://Api.example.com", as the text begins.
    private static func spelling(of text: String) -> String {
        var slashes = 0
        let end = text.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return String(text[..<(end ?? text.endIndex)])
    }

    private static func begins(_ text: String, with spelling: String) -> Bool {
        var (text, spelling) = (text, spelling)
        return text.withUTF8 { text in
            spelling.withUTF8 { spelling in
                guard text.count >= spelling.count, text.prefix(spelling.count).elementsEqual(spelling) else {
                    return false
                }
                return text.count == spelling.count || [0x2F, 0x3F, 0x23].contains(text[spelling.count])
            }
        }
    }
}
