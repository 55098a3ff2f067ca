import ErrandMessageSyntax

/// The agreed compression parameters (RFC 7692, section 7.1).
struct DeflateAgreement: Hashable {
    var clientWindow: Int
    var serverWindow = 15
    var clientKeepsWindow: Bool
    var serverKeepsWindow = true

    static let name = "permessage-deflate"

    static func offer(_ compression: WebSocketCompression) -> String {
        var offer = "\(name); client_max_window_bits"
        if compression.clientWindowBits < 15 { offer += "=\(compression.clientWindowBits)" }
        if let bits = compression.serverWindowBits { offer += "; server_max_window_bits=\(bits)" }
        if !compression.serverKeepsWindow { offer += "; server_no_context_takeover" }
        if !compression.clientKeepsWindow { offer += "; client_no_context_takeover" }
        return offer
    }

    /// Returns the parameters that the server accepted, or nil if the server didn't accept an extension.
    static func accepted(_ values: [String], _ compression: WebSocketCompression) throws(Refusal) -> DeflateAgreement? {
        let items = FieldList.items(values)
        guard let item = items.first else { return nil }
        let parts = item.split(separator: ";", omittingEmptySubsequences: false).map(ASCII.trimmed)
        guard compression.isEnabled, items.count == 1, ASCII.equalsIgnoringCase(String(parts[0]), name) else {
            throw Refusal("the server chose an extension that wasn't offered")
        }
        var agreement = DeflateAgreement(
            clientWindow: compression.clientWindowBits, clientKeepsWindow: compression.clientKeepsWindow)
        var names: Set<String> = []
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { String(ASCII.trimmed($0)) }
            guard let name = pair.first, names.insert(name).inserted,
                agreement.take(name, value: pair.count == 2 ? pair[1] : nil, for: compression)
            else { throw Refusal("the server's permessage-deflate parameters are invalid") }
        }
        guard agreement.serverKeepsWindow == false || compression.serverKeepsWindow,
            agreement.serverWindow <= compression.serverWindowBits ?? 15
        else { throw Refusal("the server chose a larger permessage-deflate window than the client offered") }
        return agreement
    }

    private mutating func take(_ name: String, value: String?, for compression: WebSocketCompression) -> Bool {
        switch name {
        case "server_no_context_takeover":
            serverKeepsWindow = false
            return value == nil
        case "client_no_context_takeover":
            clientKeepsWindow = false
            return value == nil
        case "server_max_window_bits":
            guard let bits = Self.bits(value) else { return false }
            serverWindow = bits
            return true
        case "client_max_window_bits":
            guard let bits = Self.bits(value) else { return false }
            clientWindow = min(bits, compression.clientWindowBits)
            return true
        default: return false
        }
    }

    private static func bits(_ value: String?) -> Int? {
        guard let value, let text = value.hasPrefix("\"") ? QuotedString.content(value) : value,
            let number = Int(text), "\(number)" == text, 8...15 ~= number
        else { return nil }
        return number
    }

    struct Refusal: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }
}
