import ErrandHTTP

/// Detects a path that drops the path of its base URL, which other libraries would keep.
enum PathProblem {
    static func problems(of request: some Request, _ settings: PipelineSettings) -> [String] {
        let path = request.path
        guard path.hasPrefix("/"), !path.hasPrefix("//"), let directory = try? settings.base(request.base).directory,
            directory != "/", !"\(path)/".hasPrefix(directory), isBuilt(request)
        else { return [] }
        return [
            "the path “\(path)” starts with a slash, so “\(directory.dropLast())” of the base URL is left out;"
                + " write “\(path.drop { $0 == "/" })” to keep it"
        ]
    }

    /// Whether Core builds the URL, not the request itself.
    private static func isBuilt(_ request: some Request) -> Bool {
        (try? request.httpRequest()).flatMap(\.self) == nil
    }
}
