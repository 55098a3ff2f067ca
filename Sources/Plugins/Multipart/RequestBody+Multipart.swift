public import Errand
import ErrandEssentials

extension RequestBody {
    /// A form with fields and files (RFC 7578).
    ///
    /// ```swift
    /// let call = Call<Void>(.put, "photo", body: .multipart(.field("title", "Sea"), .file(photo, name: "photo")))
    /// ```
    ///
    /// Without parts there is no body. The body can be sent again unless a part is a stream that cannot. A part that
    /// cannot be sent, such as a missing file, throws before anything is sent.
    public static func multipart(_ parts: Multipart.Part...) -> RequestBody { .multipart(Multipart(parts: parts)) }

    /// A form with the parameters as its first fields, and then the parts.
    ///
    /// ```swift
    /// let body = RequestBody.multipart(["title": "Sea", "tags": ["a", "b"]], [.file(photo, name: "photo")])
    /// ```
    ///
    /// - Parameters:
    ///   - parameters: the first fields.
    ///   - parts: the parts behind them.
    ///   - encoding: how arrays, nested values and booleans become fields; that of a URL-encoded form by default.
    public static func multipart(
        _ parameters: Parameters, _ parts: [Multipart.Part], encoding: ParameterEncoding = ParameterEncoding()
    ) -> RequestBody {
        if parameters.isEmpty { return .multipart(Multipart(parts: parts)) }
        return .prepared(isReplayable: parts.allSatisfy(\.isReplayable)) { encoder in
            let fields = try FormFields.parts(of: parameters, encoding)
            return try MultipartPlan(Multipart(parts: fields + parts), encoder).body
        }
    }

    /// A body of a multipart type.
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
