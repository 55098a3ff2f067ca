public import Errand
import ErrandEssentials
import ErrandMessageSyntax

extension RequestBody {
    /// Creates a form with fields and files (RFC 7578).
    ///
    /// ```swift
    /// let call = Call<Void>(.put, "photo", body: .multipart(.field("title", "Sea"), .file(photo, name: "photo")))
    /// ```
    ///
    /// Without parts, the body is empty. The body can be sent again unless a part is a stream that can be read only
    /// once. If a part can't be sent, for example because its file is missing, the request throws before it sends
    /// anything.
    public static func multipart(_ parts: Multipart.Part...) -> RequestBody { .multipart(Multipart(parts: parts)) }

    /// Creates a form with parameters as its first fields, followed by parts.
    ///
    /// ```swift
    /// let body = RequestBody.multipart(["title": "Sea", "tags": ["a", "b"]], [.file(photo, name: "photo")])
    /// ```
    ///
    /// - Parameter encoding: how arrays, nested values and Booleans become fields. Default: as in a URL-encoded form.
    public static func multipart(
        _ parameters: Parameters, _ parts: [Multipart.Part], encoding: ParameterEncoding = ParameterEncoding()
    ) -> RequestBody {
        if parameters.isEmpty { return .multipart(Multipart(parts: parts)) }
        return .prepared(isReplayable: parts.allSatisfy(\.isReplayable)) { encoder in
            let fields = try FormFields.parts(of: parameters, encoding)
            return try MultipartPlan(Multipart(parts: fields + parts), encoder).body
        }
    }

    /// Creates a body of any multipart type.
    ///
    /// ```swift
    /// let body = RequestBody.multipart(Multipart(.related, parts: [.json(["name": "Sea"]), .file(photo)]))
    /// ```
    public static func multipart(_ multipart: Multipart) -> RequestBody {
        if multipart.parts.isEmpty { return .none }
        return .prepared(isReplayable: multipart.parts.allSatisfy(\.isReplayable)) { encoder in
            try MultipartPlan(multipart, encoder).body
        }
    }
}

/// The names are the same as in a URL-encoded form.
enum FormFields {
    static func parts(of parameters: Parameters, _ encoding: ParameterEncoding) throws -> [Multipart.Part] {
        try encoding.encode(parameters).split(separator: "&").map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? PercentEncoding.decodeLeniently(halves[1]) : ""
            return .field(PercentEncoding.decodeLeniently(halves[0]), value)
        }
    }
}
