import ErrandEssentials

extension DecodingError {
    /// The path at which decoding failed and the reason, but no value from the data.
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context): "\(path(context)): the key \"\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
        case .valueNotFound(let type, let context): "\(path(context)): expected \(type), found null"
        case .dataCorrupted(let context) where context.mayBeNumber: "\(Self.noJSON), or \(Self.unfitNumber)"
        case .dataCorrupted(let context) where context.isNoJSON: Self.noJSON
        case .dataCorrupted(let context): "\(path(context)): not valid\(reason(context))"
        @unknown default: "not valid"
        }
    }

    /// The same, for a body that can be examined.
    func summary(of body: Data) -> String {
        guard case .dataCorrupted(let context) = self, context.mayBeNumber else { return summary }
        let hasStructure = (try? JSONDecoder().decode(Anything.self, from: body)) != nil
        return hasStructure ? summary : Self.noJSON
    }

    private static let noJSON = "the body is not valid JSON"
    private static let unfitNumber = "a number in the body doesn't fit its type"

    /// Any JSON value. `JSONDecoder` reads none of its numbers and texts.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    private func reason(_ context: Context) -> String {
        (context.underlyingError as? any DescribedError).map { ", \($0.description)" } ?? ""
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

    /// Whether `JSONDecoder` reported it in the words that it also uses for a number that doesn't fit its type.
    fileprivate var mayBeNumber: Bool {
        codingPath.isEmpty && debugDescription == "The given data was not valid JSON."
    }
}
