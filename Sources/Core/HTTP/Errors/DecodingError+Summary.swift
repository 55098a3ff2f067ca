extension DecodingError {
    /// The path at which decoding failed and the reason, but no value from the data.
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context): "\(path(context)): the key \"\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
        case .valueNotFound(let type, let context): "\(path(context)): expected \(type), found null"
        case .dataCorrupted(let context) where context.isNoJSON: "the body is not valid JSON"
        case .dataCorrupted(let context): "\(path(context)): not valid"
        @unknown default: "not valid"
        }
    }

    private func path(_ context: Context) -> String {
        "/" + context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
    }
}

extension DecodingError.Context {
    /// Whether `JSONDecoder` reported a body that isn't JSON at all.
    fileprivate var isNoJSON: Bool {
        codingPath.isEmpty && debugDescription.hasPrefix("The given data was not valid JSON")
    }
}
