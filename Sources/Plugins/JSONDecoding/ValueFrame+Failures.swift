import ErrandEssentials
import ErrandJSONSyntax

// The errors of `JSONDecoder`, and the ways to values that are rare enough to look for them.
extension ValueFrame {
    func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    func mismatch(_ type: Any.Type, _ entry: IndexEntry, _ step: Step?) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path(step), debugDescription: "Expected to decode \(type) but found \(entry.name) instead.")
        )
    }

    func null(_ type: Any.Type, _ step: Step?) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path(step), debugDescription: "Cannot get value of type \(type) -- found null value instead"
            ))
    }

    func corrupted(_ message: String, _ step: Step?) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(step), debugDescription: message))
    }

    private func unrepresentable(_ type: Any.Type, _ entry: IndexEntry) -> DecodingError {
        JSONDecodingError(.numberNotRepresentable, "a number that \(type) can hold expected", byte: entry.start)
            .decodingError
    }

    // MARK: Scalars

    @inline(never) func bool(at position: Int, _ step: Step?) throws -> Bool {
        if position >= 0, let value = document.bool(at: position) { return value }
        throw mismatch(Bool.self, entry(at: position), step)
    }

    @inline(never) func string(at position: Int, _ step: Step?) throws -> String {
        if position >= 0, let value = document.string(at: position) { return value }
        throw nullOrMismatch(String.self, at: position, step)
    }

    @inline(never)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at position: Int, _ step: Step?) throws -> Value {
        let entry = entry(at: position)
        guard entry.isKind(.integer) || entry.isKind(.number) else { throw nullOrMismatch(type, at: position, step) }
        guard let value = document.number(entry).integer(type) else { throw unrepresentable(type, entry) }
        return value
    }

    @inline(never) func double(at position: Int, _ step: Step?) throws -> Double {
        try floatingPoint(at: position, step) { $0.double }
    }

    @inline(never) func float(at position: Int, _ step: Step?) throws -> Float {
        try floatingPoint(at: position, step) { $0.float }
    }

    private func floatingPoint<Value: BinaryFloatingPoint>(
        at position: Int, _ step: Step?, _ read: (JSONNumber) -> Value
    ) throws -> Value {
        let entry = entry(at: position)
        if entry.isKind(.integer) || entry.isKind(.number) {
            let number = document.number(entry)
            let value = read(number)
            guard value.isFinite, value != 0 || number.isZero else { throw unrepresentable(Value.self, entry) }
            return value
        }
        if entry.isKind(.string), let text = document.string(at: position),
            case .convertFromString(let infinity, let negative, let nan) =
                document.options.nonConformingFloatDecodingStrategy
        {
            // Byte by byte, unlike strings.
            if text.utf8.elementsEqual(infinity.utf8) { return .infinity }
            if text.utf8.elementsEqual(negative.utf8) { return -.infinity }
            if text.utf8.elementsEqual(nan.utf8) { return .nan }
        }
        throw nullOrMismatch(Value.self, at: position, step)
    }

    private func nullOrMismatch(_ type: Any.Type, at position: Int, _ step: Step?) -> DecodingError {
        let entry = entry(at: position)
        return entry.isKind(.null) ? null(type, step) : mismatch(type, entry, step)
    }

    // MARK: Types of Foundation

    func date(at position: Int, _ step: Step?) throws -> Date {
        guard !entry(at: position).isKind(.null) else { throw null(Date.self, step) }
        let strategy = document.options.dateDecodingStrategy
        if case .deferredToDate = strategy {
            return Date(timeIntervalSinceReferenceDate: try double(at: position, step))
        }
        if case .secondsSince1970 = strategy { return Date(timeIntervalSince1970: try double(at: position, step)) }
        if case .millisecondsSince1970 = strategy {
            return Date(timeIntervalSince1970: try double(at: position, step) / 1_000)
        }
        if case .iso8601 = strategy {
            let text = try string(at: position, step)
            if let date = ISO8601Date.date(text) { return date }
            // The path of `JSONDecoder`, which ends at the type that reads the date.
            throw asking.corrupted("Expected date string to be ISO8601-formatted.", nil)
        }
        if case .custom(let read) = strategy { return try scoped(at: position, step) { try read($0) } }
        // Strategies that only some platforms have, with formatters.
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = strategy
        let entry = entry(at: position)
        guard entry.isKind(.string) || entry.isKind(.escapedString) else {
            throw mismatch(String.self, entry, step)
        }
        do { return try decoder.decode(Date.self, from: Data(document.quoted(entry))) } catch {
            throw corrupted("Date string does not match format expected by formatter.", step)
        }
    }

    func data(at position: Int, _ step: Step?) throws -> Data {
        guard !entry(at: position).isKind(.null) else { throw null(Data.self, step) }
        let strategy = document.options.dataDecodingStrategy
        if case .custom(let read) = strategy { return try scoped(at: position, step) { try read($0) } }
        if case .deferredToData = strategy { return try scoped(at: position, step) { try Data(from: $0) } }
        guard let data = Data(base64Encoded: try string(at: position, step)) else {
            throw corrupted("Encountered Data is not valid Base64.", step)
        }
        return data
    }

    func url(at position: Int, _ step: Step?) throws -> URL {
        guard !entry(at: position).isKind(.null) else { throw null(URL.self, step) }
        guard let url = URL(string: try string(at: position, step)) else {
            throw corrupted("Invalid URL string.", step)
        }
        return url
    }

    func decimal(at position: Int, _ step: Step?) throws -> Decimal {
        let entry = entry(at: position)
        guard !entry.isKind(.null) else { throw null(Decimal.self, step) }
        guard entry.isKind(.integer) || entry.isKind(.number) else { throw mismatch(Decimal.self, entry, step) }
        guard let value = Decimal(string: String(decoding: document.bytes(entry), as: UTF8.self)) else {
            throw unrepresentable(Decimal.self, entry)
        }
        return value
    }
}
