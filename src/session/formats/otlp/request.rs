//! Builds the request: a profile for each sample type.

use prost::Message;

use super::attributes;
use super::dictionary::DictionaryBuilder;
use super::message::{
    OtlpDictionary, OtlpProfile, OtlpRequest, OtlpResource, OtlpResourceProfiles, OtlpSample,
    OtlpScope, OtlpScopeProfiles,
};
use crate::formats::stack_tables::{
    CPU, LabelKinds, NANOSECONDS, SAMPLE_TYPES, SampleKey, StackTables,
};
use crate::model::Session;

/// The name of the tool.
const SCOPE: &str = "@org/cpu-prof";
/// The indices of [`SAMPLE_TYPES`] in the order of the profiles: what shows profiles prefers the first.
const ORDER: [usize; SAMPLE_TYPES.len()] = [1, 2, 0];

/// Returns the request for a session, with attributes of what was profiled.
pub(super) fn of(session: &Session, resource: &[(String, String)]) -> OtlpRequest {
    let tables = StackTables::of(session, LabelKinds::All);
    let mut builder = DictionaryBuilder::new(&tables);
    let mut profiles = ORDER.map(|number| OtlpProfile {
        sample_type: Some(builder.value_type(SAMPLE_TYPES[number])),
        samples: Vec::new(),
        time_nanos: u64::try_from(tables.start_nanos()).unwrap_or(0),
        duration_nanos: u64::try_from(tables.length_nanos()).unwrap_or(0),
        period_type: Some(builder.value_type((CPU, NANOSECONDS))),
        period: tables.period_nanos().max(1),
        id: Vec::new(),
    });
    for (SampleKey { stack, labels }, values) in &tables.samples {
        let stack_index = builder.stack(*stack);
        let attribute_indices = builder.attributes(*labels);
        let values = values.list();
        for (profile, number) in profiles.iter_mut().zip(ORDER) {
            if values[number] > 0 {
                profile.samples.push(OtlpSample {
                    stack_index,
                    attribute_indices: attribute_indices.clone(),
                    values: vec![values[number]],
                });
            }
        }
    }
    let dictionary = builder.finish();
    let resource = OtlpResource { attributes: attributes::of_resource(session, resource) };
    give_ids(&mut profiles, &resource, &dictionary);
    let scope = OtlpScope { name: SCOPE.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let scope_profiles =
        vec![OtlpScopeProfiles { scope: Some(scope), profiles: Vec::from(profiles) }];
    let resource_profiles = vec![OtlpResourceProfiles { resource: Some(resource), scope_profiles }];
    OtlpRequest { resource_profiles, dictionary: Some(dictionary) }
}

/// Gives each profile an id that is always the same for the same contents, so that a profile that is sent
/// twice can be found.
fn give_ids(profiles: &mut [OtlpProfile], resource: &OtlpResource, dictionary: &OtlpDictionary) {
    let common = hashed(OFFSET, &resource.encode_to_vec());
    let common = hashed(common, &dictionary.encode_to_vec());
    for profile in profiles {
        let id = hashed(common, &profile.encode_to_vec());
        // The id 0 stands for none.
        profile.id = id.max(1).to_be_bytes().to_vec();
    }
}

/// The start of FNV-1a with 128 bits.
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
/// The prime of FNV-1a with 128 bits.
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Returns the hash of bytes after others, by FNV-1a.
fn hashed(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_paper() {
        assert_eq!(hashed(OFFSET, b""), OFFSET);
        assert_eq!(hashed(OFFSET, b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
}
