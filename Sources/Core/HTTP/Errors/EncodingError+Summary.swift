extension EncodingError {
    /// What an encoder did not take: the path and the type, never the value.
    var summary: String {
        switch self {
        case .invalidValue(let value, let context):
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return "/\(path.joined(separator: "/")): this \(type(of: value)) has no such form"
        @unknown default: return "not valid"
        }
    }
}
