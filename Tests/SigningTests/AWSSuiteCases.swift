import Errand

/// Further cases of AWS's suite, from the files of its C library.
extension AWSSuiteTests {
    /// The cases whose path isn't normalized, or is encoded once, as the rules of S3 do.
    static let plainCases: [Case] = [
        Case(
            name: "get-relative-unnormalized", target: "/example/..",
            signature: "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"),
        Case(
            name: "get-relative-relative-unnormalized", target: "/example1/example2/../..",
            signature: "dc33e0856fd4baca4d7aa2146c38958283844764f38c74252a333df5e613003b"),
        Case(
            name: "get-slash-unnormalized", target: "//",
            signature: "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e"),
        Case(
            name: "get-slash-dot-slash-unnormalized", target: "/./",
            signature: "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145"),
        Case(
            name: "get-slash-pointless-dot-unnormalized", target: "/./example",
            signature: "beb03f223f7deae4146464f06e29eebbee9c8afbe15c290cf07aa8b119e14cff"),
        Case(
            name: "get-slashes-unnormalized", target: "//example//",
            signature: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
        Case(name: "get-space-normalized", target: "/example%20space/", signature: space),
        Case(name: "get-space-unnormalized", target: "/example%20space/", signature: space),
        Case(
            name: "get-utf8", target: "/%E1%88%B4",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    ]

    /// The variants that are signed in the query.
    static let presignedCases: [Case] = [
        Case(name: "get-vanilla-query", signature: presigned),
        Case(name: "get-relative-normalized", target: "/example/..", signature: presigned),
        Case(name: "get-slash-normalized", target: "//", signature: presigned),
        Case(
            name: "get-slash-pointless-dot-normalized", target: "/./example",
            signature: "35034b1a0bdd969f346975386daf8aedfd4976573b8348cf4f67eaa41c5857de"),
        Case(
            name: "get-slashes-normalized", target: "//example//",
            signature: "c1834e8fb0307243711f0f907f6ab7311ed300d87f13792d7ee4da89ab93e082"),
        Case(
            name: "get-unreserved", target: "/\(unreserved)",
            signature: "95968482db1b9e0fadef6efc1bd24689f77c77d9ef56919c96a28cc92e0d6005"),
        Case(
            name: "get-vanilla-empty-query-key", target: "/?Param1=value1",
            signature: "49096700cbbaa5753443850f40df10f904fc2fdb544dc9512203cc77c471a9de"),
        Case(
            name: "get-vanilla-query-order-encoded", target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787"),
        Case(
            name: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1",
            signature: "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"),
        Case(
            name: "get-vanilla-query-unreserved", target: "/?\(unreserved)=\(unreserved)",
            signature: "8e76a88a7433637b12778d5592799b29ad21ecd6cf6325051c21d86f0acda2bf"),
        Case(
            name: "get-vanilla-utf8-query", target: "/?%E1%88%B4=bar",
            signature: "0bdd809b1519ac4f0c1dc3540e2cc46bd0c7f778eda408b2ebf3b913d21ff600"),
        Case(
            name: "get-vanilla-with-session-token", token: sessionToken,
            signature: "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c"),
        Case(
            name: "get-header-key-duplicate",
            headers: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            signature: "3349ee0b81b4b589da0ff28a395c3591e04de515651dd74f298fa992d1507a97"),
        Case(
            name: "get-header-value-order",
            headers: [
                ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2"),
            ],
            signature: "313720e71ca6202fdcfa9b20f88de01a4eb0638a83c833b1c184359a4eda864e"),
        Case(
            name: "get-header-value-trim",
            headers: [("My-Header1", " value1"), ("My-Header2", #" "a   b   c""#)],
            signature: "e7bb0fd515e125e1aec2ecc4c0c17484fb06f6846b927c35e46005dd3df3acd4"),
    ]

    private static let space = "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"
    private static let presigned = "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"
    static let sessionToken = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"
    static let stsToken =
        "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwt"
        + "hAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVX"
        + "AkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
}
