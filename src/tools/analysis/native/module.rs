//! The words for modules of native code. An executable such as `node` has several libraries in it, which the
//! names of functions tell.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use cpu_prof_core::profile::package::{is_users, package_of};

/// Namespaces of C++ and crates of Rust, by the libraries in the executable.
const NAMESPACES: [(&str, &str); 11] = [
    ("V8", "v8 v8_inspector v8_crdtp crdtp cppgc heap disasm unibrow"),
    ("node", "node v8impl ncrypto nbytes"),
    ("abseil", "absl"),
    ("libstdc++", "std __gnu_cxx __cxxabiv1"),
    ("simdjson", "simdjson simdjson_fast_float"),
    ("simdutf", "simdutf"),
    ("ada", "ada"),
    ("zlib", "zlib_internal"),
    ("lief", "LIEF spdlog fmt tl"),
    (
        "temporal",
        "temporal_rs temporal_capi timezone_provider zoneinfo64 resb ixdtf \
         calendrical_calculations icu_calendar icu_locale icu_locale_core icu_provider \
         diplomat_runtime zerovec zerotrie tinystr writeable",
    ),
    (
        "rust-std",
        "core alloc libm __rustc compiler_builtins gimli object addr2line memchr rustc_demangle",
    ),
];

/// Starts of names of C, without underscores before them, by their libraries. The first that fits counts.
const PREFIXES: [(&str, &str); 18] = [
    ("V8", "Builtins_ v8_ As_"),
    ("node", "napi_ node_ hdr_ uvwasi_"),
    ("libuv", "uv_"),
    ("llhttp", "llhttp_"),
    ("nghttp2", "nghttp2_"),
    ("nghttp3", "nghttp3_"),
    ("ngtcp2", "ngtcp2_"),
    ("c-ares", "ares_"),
    ("brotli", "Brotli"),
    ("ada", "ada_"),
    ("zstd", "ZSTD_ ZSTDMT_ HUF_ FSE_ ZDICT_ XXH_ COVER_"),
    (
        "zlib",
        "Cr_z_ deflate inflate crc32 adler32 zlib_ gz_ tr_ longest_match compress_block \
         insert_string fill_window build_tree slide_hash",
    ),
    (
        "sqlite",
        "sqlite3 fts3 fts5 rtree vdbe btree pager pcache1 walIndex jsonParse jsonExtract jsonEach",
    ),
    ("lief", "mbedtls_ psa_"),
    ("temporal", "temporal_"),
    ("icu", "uprv_ ucnv_ ucol_ ures_ uhash_ uset_ utrie ucptrie_ ulocimp_"),
    ("libstdc++", "cxa_ gxx_"),
    (
        "OpenSSL",
        "ASN1_ ASYNC_ AES_ BF_ BIO_ BN_ CMAC_ CMS_ CONF_ CRYPTO_ Camellia_ ChaCha20_ DES_ DH_ \
         DSA_ DSO_ DTLS ECDSA_ EC_ ENGINE_ ERR_ EVP_ HMAC_ KeccakF1600 MD5_ NCONF_ OBJ_ OCSP_ \
         OPENSSL_ OSSL_ PEM_ PKCS RAND_ RSA_ SCT_ SHA SRP_ SSL_ TLS_ TS_ UI_ WPACKET_ X509 X9_ \
         aes_ aesni_ aria_ asn1_ bio_ blake2 bn_ bsaes_ camellia_ ccm_ chacha20_ cipher_ cmac_ \
         cms_ d2i_ des_ dh_ dhx_ drbg_ dsa_ dtls ec_ ecd_ ecdh_ ecdsa_ eckey_ ecp_ ecx_ ed25519_ \
         ed448_ engine_ evp_ gcm_ gf_ ghash_ hmac_ i2d_ i2o_ i2r_ i2s_ i2v_ idea_ kdf_ keccak_ \
         kmac_ lh_ mac_ md4_ md5_ mdc2_ ml_dsa_ ml_kem_ o2i_ ocsp_ openssl_ ossl_ padlock_ pkey_ \
         poly1305_ quic_ rc2_ rc4_ rsa_ rsapss_ rsaz_ s2i_ seed_ sha1_ sha224_ sha256_ sha384_ \
         sha3_ sha512_ shake_ slh_ sm2_ sm2sig_ sm3_ sm4_ ssl tdes_ tls v2i_ vpaes_ x25519_ \
         x448_ x509_ x86_64_AES_ CAST_ Poly1305_ \
         PrivateKeyInfo_ SMIME_ SipHash_ SubjectPublicKeyInfo_ cast5_ pbkdf2_ rand_ scrypt_",
    ),
];

/// Versions of ICU in Node 18 and later.
const ICU_VERSIONS: RangeInclusive<u32> = 70..=99;

/// Libraries of their own that are in the executable elsewhere, by the starts of their files' names.
const LIBRARIES: [(&str, &str); 16] = [
    ("ld-linux", "libc"),
    ("ld-musl", "libc"),
    ("libc.", "libc"),
    ("libc-", "libc"),
    ("libdl.", "libc"),
    ("libm.", "libc"),
    ("libpthread.", "libc"),
    ("librt.", "libc"),
    ("libbrotli", "brotli"),
    ("libcares.", "c-ares"),
    ("libcrypto.", "OpenSSL"),
    ("libssl.", "OpenSSL"),
    ("libicu", "icu"),
    ("libsqlite3.", "sqlite"),
    ("libz.", "zlib"),
    ("libzstd.", "zstd"),
];

/// Systems in the names of addons, before a processor.
const SYSTEMS: [&str; 7] =
    ["linux", "linuxmusl", "darwin", "win32", "freebsd", "android", "openharmony"];

/// Names of addons that say nothing.
const COMMON_NAMES: [&str; 8] =
    ["addon", "binding", "bindings", "index", "main", "native", "node", "node_addon"];

/// Returns the word for the module or the library that a native function is of. `path` is that of the module.
pub fn module_of<'a>(path: &'a str, function_name: &str) -> Cow<'a, str> {
    let file = path.rsplit('/').next().unwrap_or(path);
    if file.contains("vdso") {
        return "kernel".into();
    }
    if let Some(name) = file.strip_suffix(".node") {
        return addon_of(path, name).into();
    }
    if let Some((_, library)) = LIBRARIES.iter().find(|(start, _)| file.starts_with(start)) {
        return (*library).into();
    }
    let name = file.split_once(".so").map_or(file, |(name, _)| name);
    // Debian has Node in a library.
    let is_library = name.len() < file.len();
    if is_library && name != "libnode" {
        return name.into();
    }
    let own = if is_library { "node" } else { file };
    library_of(function_name).unwrap_or(own).into()
}

/// Returns the name of an addon without a system and a processor: `swc` for `swc.linux-x64-gnu.node`.
fn addon_of<'a>(path: &'a str, name: &'a str) -> &'a str {
    let is_system = |(at, _): &(usize, &str)| {
        let word = name[at + 1..].split(['-', '.', '_']).next().unwrap_or_default();
        SYSTEMS.contains(&word)
    };
    let end = name.match_indices(['-', '.']).find(is_system).map_or(name.len(), |(at, _)| at);
    let short = if end == 0 { name } else { &name[..end] };
    if is_hash(short) {
        let is_version = |folder: &str| folder.strip_prefix('v').is_some_and(is_number);
        let folder = path.rsplit('/').skip(1).find(|folder| !is_version(folder));
        return folder.unwrap_or(short);
    }
    let package = package_of(path);
    if COMMON_NAMES.contains(&short) && !is_users(package) { package } else { short }
}

/// Returns whether a name is only a sum of a file's contents.
fn is_hash(name: &str) -> bool {
    name.len() >= 32 && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the library in an executable that a function is of; none for the executable's own.
fn library_of(function_name: &str) -> Option<&'static str> {
    let name = function_name.trim_start_matches(['<', '&', '[']);
    let name = name.strip_prefix("mut ").unwrap_or(name);
    if let Some(encoded) = name.strip_prefix("_Z") {
        return encoded_library(encoded);
    }
    if let Some((namespace, _)) = name.split_once("::") {
        let is_icu = namespace.strip_prefix("icu_").is_some_and(is_number);
        if is_icu {
            return Some("icu");
        }
        // `<str as core::fmt::Display>::fmt`
        return of_namespace(namespace.rsplit(' ').next().unwrap_or_default());
    }
    if ["operator new", "operator delete"].iter().any(|start| name.starts_with(start)) {
        return Some("libstdc++");
    }
    let plain = name.trim_start_matches('_');
    let has_prefix = |prefixes: &str| prefixes.split(' ').any(|prefix| plain.starts_with(prefix));
    if let Some((library, _)) = PREFIXES.iter().find(|(_, prefixes)| has_prefix(prefixes)) {
        return Some(library);
    }
    // All functions of ICU have its version: `u_strlen_78`.
    let version = name.rsplit_once('_').and_then(|(_, version)| version.parse().ok());
    version.is_some_and(|version: u32| ICU_VERSIONS.contains(&version)).then_some("icu")
}

/// Returns the library of a name of C++ that could not be decoded, by its first namespace.
fn encoded_library(encoded: &str) -> Option<&'static str> {
    let name = encoded.trim_start_matches(['Z', 'N', 'K', 'V', 'T', 'h', 'v']);
    if name.starts_with('S') {
        return Some("libstdc++");
    }
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = name[..digits].parse().ok()?;
    let namespace = name[digits..].get(..length)?;
    of_namespace(namespace)
}

fn of_namespace(namespace: &str) -> Option<&'static str> {
    let has = |names: &str| names.split(' ').any(|name| name == namespace);
    NAMESPACES.iter().find(|(_, names)| has(names)).map(|(library, _)| *library)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_in_node_have_their_names() {
        for (function_name, module) in [
            ("v8::internal::JsonParser<…>::ParseJsonValue", "V8"),
            ("Builtins_ArrayMap", "V8"),
            ("node::crypto::PBKDF2Traits::DeriveBits", "node"),
            ("napi_call_function", "node"),
            ("main", "node"),
            ("node+0x1a2b40", "node"),
            ("(anonymous namespace)::f", "node"),
            ("uv__work_done", "libuv"),
            ("uv_run", "libuv"),
            ("EVP_DigestUpdate", "OpenSSL"),
            ("ossl_prov_is_running", "OpenSSL"),
            ("sha256_block_data_order_avx2", "OpenSSL"),
            ("_aesni_encrypt4", "OpenSSL"),
            ("__ecp_nistz256_mul_montq", "OpenSSL"),
            ("ecp_nistz256_point_add", "OpenSSL"),
            ("bn_mul_mont", "OpenSSL"),
            ("deflate_fast", "zlib"),
            ("Cr_z_inflate", "zlib"),
            ("_tr_flush_block", "zlib"),
            ("BrotliEncoderCompressStream", "brotli"),
            ("ZSTD_compressBlock_fast", "zstd"),
            ("llhttp__internal_execute", "llhttp"),
            ("nghttp2_session_mem_send", "nghttp2"),
            ("ares_getaddrinfo", "c-ares"),
            ("icu_78::Locale::init", "icu"),
            ("icu_calendar::iso", "temporal"),
            ("u_strFoldCase_78", "icu"),
            ("initNumsysNames_78", "icu"),
            ("f_7", "node"),
            ("<str as core::fmt::Display>::fmt", "rust-std"),
            ("simdutf::haswell::implementation::f", "simdutf"),
            ("ada::parse<…>", "ada"),
            ("sqlite3VdbeExec", "sqlite"),
            ("std::vector<…>::push_back", "libstdc++"),
            ("operator new", "libstdc++"),
            ("<core::fmt::Formatter as core::fmt::Write>::write_str", "rust-std"),
            ("<&mut resb::a as b>::c", "temporal"),
            ("_ZN2v88internal6Object8ToNumberIS1_Q", "V8"),
            ("_ZNK4node7ToUpperITk", "node"),
            ("_ZSteqIcE", "libstdc++"),
            ("_Z9999999999999999999999", "node"),
            ("_Z5é", "node"),
            ("", "node"),
        ] {
            assert_eq!(module_of("/usr/bin/node", function_name), module, "{function_name}");
        }
    }

    #[test]
    fn other_modules_have_the_names_of_their_files() {
        for (path, module) in [
            ("/r/node_modules/@swc/core-linux-x64-gnu/swc.linux-x64-gnu.node", "swc"),
            ("/r/node_modules/@img/sharp-linux-x64/lib/sharp-linux-x64-0.35.5.node", "sharp"),
            ("/r/node_modules/@img/s/lib/sharp-linuxmusl-x64-0.35.5.node", "sharp"),
            ("/r/node_modules/r/rolldown-binding.linux-x64-gnu.node", "rolldown-binding"),
            ("/r/node_modules/better-sqlite3/build/Release/better_sqlite3.node", "better_sqlite3"),
            ("/r/node_modules/esm/build/Release/addon.node", "esm"),
            ("/r/build/Release/addon.node", "addon"),
            ("/r/.linux-x64.node", ".linux-x64"),
            (
                "/r/.cache/swc-native-0/v1/072bb3b281a77d086a53984a212b23047a70612.node",
                "swc-native-0",
            ),
            ("/lib/libvips-cpp.so.8.18.7", "libvips-cpp"),
            ("/lib/x86_64-linux-gnu/libc.so.6", "libc"),
            ("/lib/libc-2.31.so", "libc"),
            ("/lib64/ld-linux-x86-64.so.2", "libc"),
            ("/lib/ld-musl-x86_64.so.1", "libc"),
            ("/lib/libm.so.6", "libc"),
            ("/lib/libmagic.so.1", "libmagic"),
            ("/lib/libcrypto.so.3", "OpenSSL"),
            ("/lib/libnode.so.115", "node"),
            ("/lib/libuv.so.1", "libuv"),
            ("/lib/libstdc++.so.6", "libstdc++"),
            ("[vdso]", "kernel"),
            ("linux-vdso.so.1", "kernel"),
            ("/opt/electron", "electron"),
            ("", ""),
        ] {
            assert_eq!(module_of(path, "f"), module, "{path}");
        }
        assert_eq!(module_of("/lib/libnode.so.115", "uv_run"), "libuv");
        assert_eq!(module_of("/opt/electron", "v8::f"), "V8");
    }
}
