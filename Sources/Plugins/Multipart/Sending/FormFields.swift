import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// Turns parameters into form fields, with the names that a URL-encoded form would have.
enum FormFields {
    static func parts(of parameters: Parameters, _ encoding: ParameterEncoding) throws -> [Multipart.Part] {
        try encoding.encode(parameters).split(separator: "&").map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? PercentEncoding.decodeLeniently(halves[1]) : ""
            return .field(PercentEncoding.decodeLeniently(halves[0]), value)
        }
    }
}
